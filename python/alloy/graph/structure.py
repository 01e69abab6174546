"""Several values as one: a value by itself, or tuples, lists and dicts of them, however deep."""


def _is_node(value) -> bool:
    return isinstance(value, (tuple, list, dict)) and not getattr(value, "is_leaf", False)


def leaves(structure) -> list:
    """The values in their order, depth first; those of a dict in the order of its keys' insertion."""
    if not _is_node(structure):
        return [structure]
    parts = structure.values() if isinstance(structure, dict) else structure
    return [leaf for part in parts for leaf in leaves(part)]


def paths(structure, path: str = "") -> list[str]:
    """Of each leaf where it stands: keys and positions joined by slashes, below the path."""
    if not _is_node(structure):
        return [path]
    parts = structure.items() if isinstance(structure, dict) else enumerate(structure)
    return [found for key, part in parts for found in paths(part, f"{path}/{key}" if path else str(key))]


def rebuild(structure, given):
    """The structure with other leaves, given in the order of leaves(structure)."""
    given = iter(given)
    return convert(lambda leaf: next(given), structure)


def convert(function, structure, nodes=(tuple, list, dict)):
    """The structure with function(leaf) for each leaf; tuples, named tuples, lists and dicts as they were. nodes: what
    is taken apart; all else is a leaf."""
    if not isinstance(structure, nodes) or not _is_node(structure):
        return function(structure)
    if isinstance(structure, dict):
        return {key: convert(function, part, nodes) for key, part in structure.items()}
    parts = [convert(function, part, nodes) for part in structure]
    return structure._make(parts) if hasattr(structure, "_make") else type(structure)(parts)
