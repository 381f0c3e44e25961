"""The experiments, by the rules whose findings they settle."""

from tritonlint.confirm.experiment import Experiment
from tritonlint.confirm.experiments.bounds import Bounds
from tritonlint.confirm.experiments.compiling import Compiles
from tritonlint.confirm.experiments.constants import Recompiles
from tritonlint.confirm.experiments.order import Order, SameTiles
from tritonlint.confirm.experiments.precision import Precision
from tritonlint.confirm.experiments.tuning import SideEffects, TuningCost, TuningKey

EXPERIMENTS: tuple[Experiment, ...] = (
    Bounds(),
    Compiles(),
    Recompiles(),
    TuningCost(),
    TuningKey(),
    SideEffects(),
    Precision(),
    Order(),
    SameTiles(),
)


def of(code: str) -> Experiment | None:
    """The experiment that settles findings of a rule."""
    return next((one for one in EXPERIMENTS if code in one.codes), None)
