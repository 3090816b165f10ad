"""The printed numbers that do not come out, and the experiment on each: sentences with numbers."""

__all__ = ["EXPERIMENTS", "OPEN"]

# A title, sentences, and where their numbers stand in the results; a fourth word names another column.
EXPERIMENTS = [
    ("Figure 7, total variation at 1 % of noise",
     """The paper prints {paper:.2f}; we have {ours:.2f} ± {spread:.2f}, and two schemes that agree on the
        minimum of a convex energy. Near this minimum the energy is almost flat. By convexity a
        surface with the paper's error has an energy at least {gap:.3f} % above the least, which
        1000 iterations of ADMM with α = 1 fall below. With α = 10 the RMSE is {early:.2f} after 100
        iterations, on its way up. So the printed number is not that of the minimum; a run with
        another step, or one that stopped sooner, would show it. Which it was cannot be told from
        the paper.""",
     {"paper": ("fig07", "sigma=1%", "RMSE", "paper"), "ours": ("fig07", "sigma=1%", "RMSE"),
      "spread": ("fig07", "sigma=1%", "RMSE", "spread"),
      "gap": ("fig07", "sigma=1%, least energy for the paper's RMSE", "% above the minimum"),
      "early": ("fig07", "sigma=1%, alpha=10, 100 iterations", "RMSE")}),
    ("Figure 9, Φ1 from zero",
     """The paper prints {paper:.2f}; we have {ours:.2f}. Both are snapshots of an error that still falls
        after 12 000 iterations. With a step fixed by L = 8 it is {eight:.2f}, and with L = 16 after
        twice the iterations {sixteen:.2f}: what counts is their product. The paper's value comes
        out for L = {needed:.1f}. The paper chooses L by a backtracking that it does not describe in
        full, so the number is one of a step that is not known. The surface, too, is a
        reconstruction.""",
     {"paper": ("fig09", "from zero", "RMSE", "paper"), "ours": ("fig09", "from zero", "RMSE"),
      "eight": ("fig09", "from zero, L=8", "RMSE"),
      "sixteen": ("fig09", "from zero, L=16, twice the iterations", "RMSE"),
      "needed": ("fig09", "from zero, L of the paper's RMSE", "L")}),
    ("Figure 12, diffusion with μ = 0.02 and μ = 0.2",
     """The paper prints {paper_low:.2f} and {paper_middle:.2f} for 1 % of noise; we have {low:.2f} ±
        {low_spread:.2f} and {middle:.2f} ± {middle_spread:.2f}. Without noise we have
        {none_low:.2f} and {none_middle:.2f}. Taking the noise as unknown, both values lie within
        our draws up to {sigma:g} %, and at none of the larger levels that we tried. So the two
        panels were made with little noise or none; whether it is the caption or the input that
        differs, the numbers do not tell.""",
     {"paper_low": ("fig12", "mu=0.02", "RMSE", "paper"),
      "paper_middle": ("fig12", "mu=0.2", "RMSE", "paper"),
      "low": ("fig12", "mu=0.02", "RMSE"), "low_spread": ("fig12", "mu=0.02", "RMSE", "spread"),
      "middle": ("fig12", "mu=0.2", "RMSE"), "middle_spread": ("fig12", "mu=0.2", "RMSE", "spread"),
      "none_low": ("fig12", "mu=0.02, noise nowhere", "RMSE"),
      "none_middle": ("fig12", "mu=0.2, noise nowhere", "RMSE"),
      "sigma": ("fig12", "largest sigma tried that gives both values", "%")}),
    ("Figure 14, Mumford-Shah on the tent",
     """The paper prints {paper_ls:.2f} from least squares and {paper_zero:.2f} from zero; on the tent
        that was fitted to Figure 9 we have {ls:.2f} and {zero:.2f}. Its own tent has no formula. Of
        {count:.0f} tents and settings, each in both orders of the updates, the nearest has
        {near_ls:.2f} and {near_zero:.2f}; but a flat surface has {near_flat:.2f} there: from zero
        nothing rises, and the tent is too low for Figure 9. Of tents that are high enough for it
        the nearest has {high_ls:.2f} and, in the better order, {high_zero:.2f}. So the numbers
        belong to a surface, or to settings, that we do not know.""",
     {"paper_ls": ("fig14", "from least squares", "RMSE", "paper"),
      "paper_zero": ("fig14", "from zero", "RMSE", "paper"),
      "ls": ("fig14", "from least squares", "RMSE"), "zero": ("fig14", "from zero", "RMSE"),
      "count": ("fig14", "tents, settings tried", "count"),
      "near_ls": ("fig14", "tents, nearest, from least squares", "RMSE"),
      "near_zero": ("fig14", "tents, nearest, from zero", "RMSE"),
      "near_flat": ("fig14", "tents, nearest", "RMSE of a flat surface"),
      "high_ls": ("fig14", "tents, nearest high, from least squares", "RMSE"),
      "high_zero": ("fig14", "tents, nearest high, from zero", "RMSE")}),
]  # fmt: skip

# What the paper leaves open, and what we have for it.
OPEN = (
    """**The open problem.** The paper ends with the wish for an integrator that is fast, handles
        discontinuities and has no parameter. Our proposal, "calibrated", measures the noise and
        decides where the surface jumps; it has nothing to tune. Beside the outline of the vase its
        RMSE is {ours:.2f} pixels, where Mumford-Shah, tuned, has {shah:.2f}, diffusion
        {diffusion:.2f} and least squares {ls:.2f}.""",
    {"ours": ("table1", "calibrated", "RMSE near jumps"),
     "shah": ("table1", "Mumford-Shah", "RMSE near jumps"),
     "diffusion": ("table1", "diffusion", "RMSE near jumps"),
     "ls": ("table1", "quadratic", "RMSE near jumps")},
)  # fmt: skip
