"""The base class of optimizers: the learning rate, groups of parameters, and the updates of a step."""

import copy
import fnmatch
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from alloy import _core, distributed
from alloy._core import OPTIMIZER, Graph, Tensor, Update, Variable
from alloy.engine.arrays import as_count, require_all
from alloy.engine.scope import scope
from alloy.graph.state import State
from alloy.messages.location import meant, mistake, nearest, user_location
from alloy.messages.names import missing_attribute, parameters_of
from alloy.ops import cast, equal, where
from alloy.ops.apply import apply, apply_all, as_sequence, require_tensor
from alloy.ops.elementwise import widened
from alloy.optimizers import gradients as processing
from alloy.optimizers.loss_scale import LossScale

Rate = float | Tensor | Callable[[Tensor], Tensor]

_GREATEST = float(np.finfo(np.float32).max)
_SHARED = (
    "clip_value",
    "clip_norm",
    "accumulate_steps",
    "skip_nonfinite",
    "loss_scale",
    "ema_decay",
    "groups",
    "distributed",
)


class Optimizer:
    """The base of optimizers. A subclass defines update(parameter, gradient, slots, step), in tensors:

        class Lion(al.Optimizer):
            def update(self, parameter, gradient, slots, step):
                m = slots["momentum"]
                slots["momentum"] = m * 0.99 + gradient * 0.01
                return parameter - al.sign(m * 0.9 + gradient * 0.1) * self.rate

    update returns the new parameter. slots is an alloy.graph.state.State that keeps tensors of this parameter from step
    to step; they start with zeros of its shape, or as slots.setdefault says. step is an int32 tensor, 0 in the
    parameter's first step. self.rate is the learning rate of the step, a tensor of one element. For a float16 or
    bfloat16 variable everything here is float32. begin(state, step) may compute values that all parameters share.

    lr: a number, a tensor of one element that the step computes, or a schedule (al.schedules): a function of the step's
    number. A number is kept in a variable: `optimizer.lr = x` holds from the next step on, also in steps compiled
    before.

    groups: other options for some parameters, {which: {option: value}}. `which` is a pattern of names as in a shell
    ("*/bias", "encoder/*"), or a function of a variable that returns a bool. If several fit, the last one counts. No
    decay of biases and norms: {lambda v: len(v.shape) < 2: {"weight_decay": 0}}.

    clip_value: limits gradients to -clip_value ... clip_value. clip_norm: multiplies all gradients by min(1, clip_norm
    / (norm + 1e-6)), with the norm over all their elements (torch.nn.utils.clip_grad_norm_). accumulate_steps: the
    parameters change once in so many steps, by the mean gradient. skip_nonfinite: a step with an infinite or NaN
    gradient changes nothing; skipped(graph) counts such steps. loss_scale: an al.LossScale, for float16 activations;
    skips such steps, too. ema_decay: keeps an average of each parameter, average = ema_decay * average + (1 -
    ema_decay) * parameter, at first the parameter (see swap).

    ValueError or TypeError: an option is unknown, or outside its bounds."""

    bounds: dict = {}  # option: (least number, first number that is too great or None)
    _bounds: dict = {"clip_value": (0, None), "clip_norm": (0, None), "ema_decay": (0, 1)}
    rate: Tensor

    def __init__(
        self,
        lr,
        *,
        groups: Mapping | None = None,
        clip_value: float | None = None,
        clip_norm: float | None = None,
        accumulate_steps: int = 1,
        skip_nonfinite: bool = False,
        loss_scale: LossScale | None = None,
        ema_decay: float | None = None,
        **unknown,
    ):
        for name in unknown:
            raise self._unknown(name)
        self._shared: list[State] = []  # of each graph; a variable of the graph owns it
        self._slots: dict[int, tuple[State, State]] = {}  # by a variable's hash: its slots, and _new_steps
        self._rate = self._checked_rate(lr)
        self.groups = self._checked_groups(groups)
        self.clip_value = clip_value
        self.clip_norm = clip_norm
        self.accumulate_steps = as_count(self, "accumulate_steps", accumulate_steps)
        self.skip_nonfinite = bool(skip_nonfinite)
        require_all(self, "an al.LossScale", (LossScale, type(None)), [loss_scale])
        self.loss_scale = loss_scale
        self.ema_decay = ema_decay
        self.distributed: str | None = None  # the type in which gradients travel: see al.distributed.Optimizer

    # ---- for subclasses ----

    def begin(self, state: State, step: Tensor) -> None:
        """Runs before the updates of parameters that share options and number of steps. state: their common state."""

    def update(self, parameter: Tensor, gradient: Tensor, slots: State, step: Tensor) -> Tensor:
        raise self.mistake("Expected a method update(parameter, gradient, slots, step) that returns a tensor")

    def mistake(self, expected: str, *given) -> Exception:
        """Makes a ValueError with that sentence."""
        got = f", got {' and '.join(map(repr, given))}" if given else f" of {type(self).__name__}"
        return mistake(self, expected + got)

    # ---- options ----

    @property
    def lr(self):
        """The learning rate as given, or as loaded from a checkpoint. It may be set to another number at any time.
        Setting it to or from a tensor or schedule is possible only before the first step is made: ValueError."""
        rate = self._rate
        if isinstance(rate, Real):
            for variable in self._rates():
                if variable.numpy() != np.float32(float(rate)):
                    return variable.numpy().item()
        return rate

    @lr.setter
    def lr(self, rate) -> None:
        rate = self._checked_rate(rate)
        has_steps = any(slots.owner is not None for slots, _ in self._slots.values())
        if has_steps and not (isinstance(rate, Real) and isinstance(self._rate, Real)):
            kept = "a number" if isinstance(self._rate, Real) else "the schedule"
            given = repr(rate) if isinstance(rate, Real) else "a schedule"
            raise mistake(
                self,
                f"Expected lr to stay {kept}, since steps have been made with it, got {given}; make another optimizer, "
                "and steps with it",
            )
        if isinstance(rate, Real):
            for variable in self._rates():
                variable.assign(np.float32(float(rate)))
        self._rate = rate

    def _rates(self) -> list[Variable]:
        """Returns the graphs' variables for a rate that is a number."""
        states = [state for state in self._shared if state.owner is not None]
        return [state.variables["lr"] for state in states if "lr" in state]

    if not TYPE_CHECKING:  # or checkers would accept any name
        __getattr__ = missing_attribute

    def __setattr__(self, name, value):
        if not name.startswith("_") and name not in ("lr", "rate"):
            options = (*self.bounds, *_SHARED)
            is_new = name not in options and not hasattr(self, name)
            if is_new and meant(name, [*options, "learning_rate"], 0.85):
                raise self._unknown(name)
            if vars(self).get("_slots"):
                raise mistake(
                    self,
                    f"Expected {name} to stay what it was, since steps have been made with it; make another optimizer, "
                    "and steps with it",
                )
            self._check(name, value)
        object.__setattr__(self, name, value)

    def _check(self, name, value):
        bounds = {**Optimizer._bounds, **self.bounds}.get(name)
        if bounds is None or (value is None and name in Optimizer._bounds):
            return
        low, high = bounds
        limit = math.inf if high is None else high
        numbers: list[Any] = list(value) if isinstance(value, (tuple, list)) else [value]
        if name == "betas" and len(numbers) != 2:
            raise mistake(self, f"Expected two numbers as betas, got {value!r}")
        require_all(self, f"numbers as {name}", Real, numbers)
        for number in numbers:
            above = "" if high is None else f" and below {high}"
            if not low <= number < limit:
                raise mistake(self, f"Expected {name} of {low} or more{above}, got {number}")

    def _unknown(self, name):
        like = nearest(name, [*parameters_of(type(self)), "learning_rate"])
        here = "; use lr" if like == "learning_rate" else f"; the nearest is {like}" if like else ""
        return mistake(self, f"There is no option {name}{here}", TypeError)

    def _checked_rate(self, rate):
        if not isinstance(rate, (Real, Tensor, Callable)) or isinstance(rate, (bool, type)):
            hint = ""
            if isinstance(rate, Iterable) and not isinstance(rate, str):
                hint = "; an optimizer takes no variables, minimize(loss, variables) takes those to train"
            raise mistake(
                self,
                f"Expected a number, a tensor or a function of the step as lr, got {type(rate).__name__}{hint}",
                TypeError,
            )
        # The declarations of numbers.Real lack >=.
        if isinstance(rate, Real) and not 0 <= rate <= _GREATEST:  # pyright: ignore[reportOperatorIssue]
            raise mistake(self, f"Expected lr of 0 or more that float32 can hold, got {rate}")
        return rate

    def _checked_groups(self, groups) -> dict:
        given = {} if groups is None else groups
        sound = isinstance(given, Mapping) and all(
            (isinstance(which, str) or callable(which)) and isinstance(options, Mapping)
            for which, options in given.items()
        )
        if not sound:
            expected = "groups as {pattern or function of a variable: {option: value}}"
            raise mistake(self, f"Expected {expected}, got {groups!r}", TypeError)
        return dict(given)

    def __repr__(self):
        own = vars(self)
        shown = [f"lr={getattr(self._rate, '__name__', self._rate)}"]
        shown += [
            f"{name}={own[name]!r}"
            for name, parameter in parameters_of(type(self)).items()
            if name in own and own[name] != parameter.default and own[name] != {}
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    # ---- steps ----

    def minimize(self, loss: Tensor, variables=None) -> list[Update]:
        """Returns updates for compile that move the variables (by default all trainable ones of the graph) down the
        loss's gradient. All steps made with this optimizer share the state of a variable.

        ValueError: the loss does not depend on a variable, or a variable belongs to another graph."""
        require_tensor("minimize", loss)
        graph = loss.graph
        if variables is None:
            variables = [variable for variable in graph.variables if variable.trainable]
        if hasattr(variables, "variables"):
            given = f"a {type(variables).__name__}; write model.variables"
            raise mistake("minimize", f"Expected a list of variables, got {given}", TypeError)
        variables = as_sequence("minimize", "variables", variables)
        require_all("minimize", "variables", Variable, variables)
        scale = None
        if self.loss_scale is not None and variables:
            scale = self.loss_scale.scale(self._state(variables[0]))
            with scope(graph, self._state(variables[0]).path):
                loss = cast(loss, "float32") * scale
        return self._apply(list(zip(graph.loss_gradients(loss, variables, user_location()), variables)), scale)

    def apply(self, gradients_and_variables) -> list[Update]:
        """Returns updates for compile that move variables down given gradients: the second half of minimize, for
        gradients that are fed or changed first.

        gradients_and_variables: pairs of a tensor and a variable of the same shape and dtype, all of one graph; else
        ValueError or TypeError."""
        pairs = list(gradients_and_variables)
        for pair in pairs:
            if (
                not isinstance(pair, (tuple, list))
                or len(pair) != 2
                or not (isinstance(pair[0], Tensor) and isinstance(pair[1], Variable))
            ):
                raise mistake("apply", f"Expected pairs of a gradient and its variable, got {pair!r}", TypeError)
        return self._apply(pairs, None)

    def _apply(self, pairs, scale) -> list[Update]:
        _core.require_gradients(pairs)  # before any variable is made
        if not pairs:
            return []
        state, members = self._state(pairs[0][1]), self._members([variable for _, variable in pairs])
        try:
            return self._updates(pairs, scale, state, members)
        except BaseException:
            for made in (state, *(kept for states in self._slots.values() for kept in states)):
                made.forget()
            raise

    def _updates(self, pairs, scale, state, members) -> list[Update]:
        graph, variables = pairs[0][1].graph, [variable for _, variable in pairs]
        with scope(graph, state.path):
            found = [widened(gradient) for gradient, _ in pairs]
            if self.distributed and distributed.size() > 1:
                totals = distributed.all_reduce([cast(gradient, self.distributed) for gradient in found])
                found = [widened(total) * (1.0 / distributed.size()) for total in totals]
            if scale is not None:
                found = [gradient * (1.0 / scale) for gradient in found]
            slots = [self._slots[hash(variable)][0] for variable in variables]
            found, flags, updates = processing.processed(self, found, slots, state)
        for member, steps in members.values():
            with scope(graph, steps.path):
                member.begin(steps, steps["step"])
        for gradient, variable in zip(found, variables):
            updates += self._moved(variable, gradient, members, flags.take)
        for _, steps in members.values():
            steps["step"] = steps["step"] + 1
            updates += steps.updates(flags.take)
        with scope(graph, state.path):
            processing.count(self, state, flags)
            return updates + state.updates()

    def _moved(self, variable, gradient, members, taken):
        """Returns the updates of one variable and its slots."""
        slots, steps = self._slots[hash(variable)]
        member = members[id(steps)][0]
        with scope(variable.graph, slots.path):
            before = widened(variable)
            after = member.update(before, gradient, slots, steps["step"])
            require_all(self, "a tensor from update", Tensor, [after])
            if self.ema_decay is not None:
                average = slots["average"]
                average = average + (after - average) * (1 - self.ema_decay)
                slots["average"] = where(equal(steps["step"], 0), after, average)
            if taken is not None:
                after = where(taken, after, before)
            return [variable.graph.assign(variable, cast(after, variable.dtype)), *slots.updates(taken)]

    def _members(self, variables) -> dict:
        """Groups the variables by options and number of steps. Returns {id(steps): (optimizer with these options,
        steps)}."""
        members, fresh = {}, {}
        self._slots = {key: kept for key, kept in self._slots.items() if kept[0].owner is not None}
        for variable in variables:
            which = tuple(i for i, key in enumerate(self.groups) if _belongs(variable, key))
            kept = self._slots.get(hash(variable))
            if kept is None or kept[0].owner != variable:
                if which not in fresh:
                    fresh[which] = self._new_steps(variable)
                kept = State(variable, self._slot_path(variable)), fresh[which]
                self._slots[hash(variable)] = kept
            steps = kept[1]
            if id(steps) not in members:
                members[id(steps)] = self._member(which, variable), steps
        return members

    def _member(self, which, variable):
        """Returns this optimizer with the options of those groups, and its rate in this graph."""
        member, options = copy.copy(self), {}
        for i in which:
            options |= list(self.groups.values())[i]
        for name, value in options.items():
            if name in _SHARED:
                raise mistake(self, f"There is no option {name} of a group; it is one of all parameters", TypeError)
            if name != "lr" and name not in vars(self):
                raise self._unknown(name)
            self._check(name, value)
        vars(member).update({"_rate" if name == "lr" else name: value for name, value in options.items()})
        own = next((i for i in reversed(which) if "lr" in list(self.groups.values())[i]), None)
        if own is None:
            member.rate = self._rate_in(variable, self._rate, "lr")
        else:
            member.rate = self._rate_in(variable, self._checked_rate(options["lr"]), f"group_{own}/lr")
        return member

    def _rate_in(self, variable, rate, name) -> Tensor:
        """Returns the rate as a tensor of the variable's graph; a number goes into a variable of that name."""
        state = self._state(variable)
        if isinstance(rate, Tensor):
            return rate
        if isinstance(rate, Real):
            return state.setdefault(name, float(rate))
        with scope(variable.graph, state.path):
            step = state.setdefault("step", 0)
            found = rate(cast(step, "float32"))
            require_all(self, "a tensor of one element from the schedule", Tensor, [found])
            return found

    # ---- state ----

    def swap(self, variables) -> list[Update]:
        """Returns updates for compile that exchange the variables' values with their averages (ema_decay), to evaluate
        or save the averages; a second run exchanges them back. ValueError: a variable has no average yet."""
        updates = []
        for variable in variables:
            kept = self._slots.get(hash(variable))
            if kept is None or "average" not in kept[0]:
                raise mistake("swap", f"Expected variables with averages, got {variable!r}; see ema_decay")
            average = kept[0]["average"]
            updates += [
                variable.graph.assign(variable, cast(average, variable.dtype)),
                variable.graph.assign(average, widened(variable)),
            ]
        return updates

    def skipped(self, graph) -> int:
        """Returns the number of steps in the graph that changed nothing because a gradient was not finite
        (skip_nonfinite, loss_scale). Reads from the device."""
        return self._counted(graph, "skipped")

    def steps_made(self, graph) -> int:
        """Returns the number of steps made in the graph, as a schedule counts them. Reads from the device."""
        return self._counted(graph, "step") * self.accumulate_steps

    def _counted(self, graph, name) -> int:
        state = self._known_state(graph)
        return int(state.variables[name].numpy()) if state is not None and name in state else 0

    def rate_at(self, step: int) -> float | None:
        """Returns the learning rate that the schedule has for a step, counted from 0. None: the rate is no schedule, or
        the schedule fails on a number."""
        if not callable(self._rate):
            return None
        graph = Graph()
        at = graph.placeholder(())
        try:
            return float(graph.run(self._rate(at), {at: np.float32(step // self.accumulate_steps)}).item())
        except Exception:
            return None

    def _state(self, variable) -> State:
        """Returns the state that all variables of a graph share."""
        known = self._known_state(variable.graph)
        if known is not None:
            return known
        taken = [v.name for v in variable.graph.variables]
        root, i = OPTIMIZER, 0
        while any(name.startswith(f"{root}/") for name in taken):
            i += 1
            root = f"{OPTIMIZER}/{i}"
        self._shared = [*(state for state in self._shared if state.owner is not None), State(variable, root)]
        return self._shared[-1]

    def _known_state(self, graph) -> State | None:
        return next((state for state in self._shared if _is_in(graph, state)), None)

    def _slot_path(self, variable):
        name = variable.name or f"variable_{variable.graph.variables.index(variable)}"
        return f"{self._state(variable).path}/{name}"

    def _new_steps(self, variable) -> State:
        """Makes the state of variables that begin to be trained together."""
        root = self._state(variable).path
        taken = {steps.path for _, steps in self._slots.values() if _is_in(variable.graph, steps)}
        i = next(i for i in range(len(taken) + 1) if f"{root}/steps_{i}" not in taken)
        steps = State(variable, f"{root}/steps_{i}")
        steps.setdefault("step", 0)
        return steps


def sgd_step(rate, parameter, gradient) -> Tensor:
    """parameter - rate * gradient."""
    return apply("sgd", [rate, parameter, gradient])


def adam_step(*operands) -> list[Tensor]:
    """Returns the parameter and its moments after a step (csrc/ir/ops.def)."""
    return apply_all("adam", operands)


def _is_in(graph, state) -> bool:
    return state.owner is not None and state.graph is graph


def _belongs(variable, which) -> bool:
    return bool(which(variable)) if callable(which) else fnmatch.fnmatchcase(variable.name, which)
