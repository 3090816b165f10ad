"""One way to run an experiment: a function, many settings, and a table with one row a run.

    study = Study.over(integrated, surface="vase", sigma=0.01, seed=range(20), method="phi1", beta=[0.1, 0.5])
    table = study.run(workers=2)

A run is a call of the function with one of the settings, plain values all of them. What it returned is kept
on disk under a name made of the settings, of the code and of the versions of the libraries. So a study that
was stopped goes on where it was, what two studies share is computed once, and changed code begins anew.
Where a run happens does not matter: in this process, on the cores of this machine, or on a cluster.
"""

from normint.workbook.study.experiment import integrated
from normint.workbook.study.study import FailedRuns, Study

__all__ = ["FailedRuns", "Study", "integrated"]
