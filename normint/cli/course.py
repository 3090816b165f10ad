"""`normint course …`: what a teacher does with the exercises."""

from normint.cli.printing import complain, say


def add_course(commands):
    """Add the subcommands."""
    parser = commands.add_parser("course", help="for teachers: hand out the exercises, grade them")
    parts = parser.add_subparsers(required=True, metavar="command")
    one = parts.add_parser("release", help="write the students' archive, without solutions and answers")
    one.add_argument("--out", metavar="FILE.zip", help="(build/normint-exercises.zip)")
    one.set_defaults(command=release)
    one = parts.add_parser("grade", help="run submissions on hidden cases, without trusting them")
    add = one.add_argument
    add("folder", metavar="DIR", help="with <student>/*.ipynb, or <student>.ipynb")
    add(
        "--out",
        default="grades",
        metavar="DIR",
        help="for grades.csv and feedback/<student>.md (%(default)s)",
    )
    add("--seed", type=int, metavar="N", help="of the hidden cases (by chance)")
    add("--seconds", type=float, default=60.0, metavar="S", help="for each notebook (%(default)s)")
    add("--memory", type=float, default=2048.0, metavar="MB", help="for each notebook (%(default)s)")
    one.set_defaults(command=grade)
    one = parts.add_parser("export", help="write the exercises as a course of nbgrader")
    one.add_argument("out", metavar="DIR", help="a new folder")
    one.set_defaults(command=export)
    one = parts.add_parser("slides", help="turn notebooks into slides, as HTML and as PDF")
    one.add_argument("numbers", nargs="*", metavar="NN", help="notebooks that begin so (all)")
    one.add_argument("--out", metavar="DIR", help="(build/slides)")
    one.set_defaults(command=slides)


def release(arguments):
    """Write the students' archive, and print where."""
    from normint.course.teaching.archive import release as write

    say(write(arguments.out))
    return 0


def grade(arguments):
    """Grade submissions, and print where the table is."""
    from normint.course.teaching import sandbox
    from normint.course.teaching.grading import grade as write

    if not sandbox.isolated():
        complain("submissions run without namespaces here: they can read and write your files")
    limits = sandbox.Limits(arguments.seconds, arguments.memory)
    say(write(arguments.folder, arguments.out, seed=arguments.seed, limits=limits))
    return 0


def export(arguments):
    """Write a course of nbgrader, and print where."""
    from normint.course.teaching.export import export as write

    say(write(arguments.out))
    return 0


def slides(arguments):
    """Write slides, and print where."""
    from normint.course.teaching.slides import write_slides

    written = write_slides(arguments.numbers, arguments.out)
    if not any(path.suffix == ".pdf" for path in written):
        complain("no Chromium or Chrome was found to print a PDF with; browsers print the HTML as well")
    say("\n".join(map(str, written)))
    return 0
