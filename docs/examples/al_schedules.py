"""Examples of learning rates that depend on the step, one for each name."""

import alloy as al


def rates(schedule, *steps):  # what an optimizer with this schedule uses in these steps
    return [round(al.SGD(schedule).rate_at(step), 6) for step in steps]


# al.schedules.constant
assert rates(al.schedules.constant(0.1), 0, 1000) == [0.1, 0.1]

# al.schedules.cosine
assert rates(al.schedules.cosine(0.1, 100), 0, 50, 100, 200) == [0.1, 0.05, 0, 0]

# al.schedules.exponential
assert rates(al.schedules.exponential(0.1, 0.5), 0, 1, 2) == [0.1, 0.05, 0.025]

# al.schedules.one_cycle
assert rates(al.schedules.one_cycle(0.1, 100), 0, 29, 99) == [0.004, 0.1, 0]  # 0.1 / 25, 0.1, 0.004 / 10000

# al.schedules.piecewise
assert rates(al.schedules.piecewise([10, 20], [0.1, 0.01, 0.001]), 9, 10, 20) == [0.1, 0.01, 0.001]

# al.schedules.polynomial
assert rates(al.schedules.polynomial(0.1, 100), 0, 25, 100) == [0.1, 0.075, 0]

# al.schedules.step
assert rates(al.schedules.step(0.1, 30), 0, 29, 30, 60) == [0.1, 0.1, 0.01, 0.001]

# al.schedules.warmup
assert rates(al.schedules.warmup(0.1, 10, start_factor=0.5), 0, 5, 10, 99) == [0.05, 0.075, 0.1, 0.1]
