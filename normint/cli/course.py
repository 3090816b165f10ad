"""`normint course …`: what a teacher does with the exercises."""

from normint.cli.printing import say


def add_course(commands):
    """Add the subcommands."""
    parser = commands.add_parser("course", help="for teachers: hand out the exercises, grade them")
    parts = parser.add_subparsers(required=True, metavar="command")
    one = parts.add_parser("release", help="write the students' archive, without solutions and answers")
    one.add_argument("--out", metavar="FILE.zip", help="(build/normint-exercises.zip)")
    one.set_defaults(command=release)


def release(arguments):
    """Write the students' archive, and print where."""
    from normint.course.teaching.archive import release as write

    say(write(arguments.out))
    return 0
