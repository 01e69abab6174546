"""Several values as one: a value by itself, or tuples, lists and dicts of them, at any depth."""


def _is_node(value) -> bool:
    return isinstance(value, (tuple, list, dict)) and not getattr(value, "is_leaf", False)


def leaves(structure) -> list:
    """Returns the values in their order, depth first; the values of a dict in the order of insertion."""
    if not _is_node(structure):
        return [structure]
    parts = structure.values() if isinstance(structure, dict) else structure
    return [leaf for part in parts for leaf in leaves(part)]


def paths(structure, path: str = "") -> list[str]:
    """Returns the place of each leaf: keys and positions joined by slashes, below the path."""
    if not _is_node(structure):
        return [path]
    parts = structure.items() if isinstance(structure, dict) else enumerate(structure)
    return [found for key, part in parts for found in paths(part, f"{path}/{key}" if path else str(key))]


def rebuild(structure, given):
    """Returns the structure with other leaves, given in the order of leaves(structure)."""
    given = iter(given)
    return convert(lambda leaf: next(given), structure)


def convert(function, structure, nodes=(tuple, list, dict)):
    """Returns the structure with function(leaf) for each leaf, and its tuples, named tuples, lists and dicts. nodes:
    the types to take apart; all else is a leaf."""
    if not isinstance(structure, nodes) or not _is_node(structure):
        return function(structure)
    if isinstance(structure, dict):
        return {key: convert(function, part, nodes) for key, part in structure.items()}
    parts = [convert(function, part, nodes) for part in structure]
    return structure._make(parts) if hasattr(structure, "_make") else type(structure)(parts)
