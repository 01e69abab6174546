"""The command with which MPI's launcher starts several processes of a script."""

import os
import shutil
import sys
import sysconfig

import alloy as al

_ROOT = ("PRTE_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT")  # Open MPI 5, and 4; each has a second one, _CONFIRM
# Open MPI starts no more processes than cores, and binds each to one core, unless it is told otherwise.
_PLACES = {
    "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe",  # without a policy, all go to the first host
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
# Open MPI's launcher gives up a host that does not answer for 11 s, when the processes have said so; else for minutes.
_SILENCE = {f"PRTE_MCA_oob_tcp_keepalive_{name}": n for name, n in (("time", "5"), ("intvl", "2"), ("probes", "3"))}


def launcher() -> str:
    """Returns the path of mpirun: the one of this environment, which belongs to its mpi4py, before others."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    found = shutil.which("mpirun", path=path)
    if found is None:
        raise FileNotFoundError('There is no mpirun; pip install "alloy-mpsgraph[mpi]" brings it.')
    return found


def command(processes: int, script: str, arguments) -> list[str]:
    return [launcher(), "-n", str(processes), sys.executable, script, *arguments]


def environment(processes: int, threads: int | None) -> dict[str, str]:
    """Returns the environment of the processes. threads: of each; None: OMP_NUM_THREADS, or this machine's cores
    divided among the processes."""
    own = os.environ.get("OMP_NUM_THREADS") or str(max(1, (al.threads() or 1) // processes))
    made = _PLACES | _SILENCE | os.environ | {"OMP_NUM_THREADS": own if threads is None else str(threads)}
    if os.geteuid() == 0:  # in a container, everything is root's
        made |= {f"{name}{suffix}": "1" for name in _ROOT for suffix in ("", "_CONFIRM")}
    return made
