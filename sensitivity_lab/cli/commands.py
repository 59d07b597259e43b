"""The table of commands: what each one does, its arguments, its call and its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from . import answers, database, release
from .arguments import (
    BOUNDS,
    CLAIM,
    CLAIM_PER_K,
    COLUMN,
    COLUMNS,
    COPIES,
    DATA,
    DATABASE,
    DATASET,
    DELTA,
    DIRECTION,
    DISTANCE,
    DISTANCES,
    DOMAIN,
    EMPTY,
    EPSILON,
    EXACTLY,
    FILE,
    FOLDER,
    FOREIGN_KEYS,
    GROUP_BY,
    JOBS,
    JSON,
    KEYS,
    LEDGER,
    MAX_ROWS,
    MEMORY_LIMIT,
    METHOD,
    NEIGHBORS,
    NO_BROWSER,
    NULL_PERSON,
    OF_FORMULA,
    OUTPUT,
    PERSON,
    PERSONS,
    PORT,
    PUBLIC_TABLES,
    PUBLIC_UNIVERSE,
    PUBLISH,
    PUBLISHED_QUERIES,
    QUERIES,
    QUERY,
    RELEASE_NAME,
    REQUIRED_DISTANCES,
    REQUIRED_QUERIES,
    ROWS_PER_PERSON,
    SCRATCH,
    SEVERAL_NEIGHBORS,
    SIZE,
    SOURCES,
    SPLIT,
    SQL,
    TABLE,
    Argument,
    OneOf,
)
from .explore import explore
from .given import Given
from .output import Answer


@dataclass(frozen=True, kw_only=True)
class About:
    """What the program, or one of its commands, does.

    Attributes
    ----------
    name : str
        As it is typed.
    does : str
        One or two sentences of the help.
    examples : tuple of str
        Arguments that follow ``sensitivity-lab``; the tests run them.
    more : str
        Further help, after the examples.
    """

    name: str
    does: str
    examples: tuple[str, ...]
    more: str = ""

    @property
    def after(self) -> str:
        """The help after the arguments."""
        lines = "\n".join(f"  sensitivity-lab {example}" for example in self.examples)
        return "\n\n".join(filter(None, (f"examples:\n{lines}", self.more)))


@dataclass(frozen=True, kw_only=True)
class Command(About):
    """A row of the table of commands.

    Attributes
    ----------
    summary : str
        Its line in the list of all commands.
    arguments : tuple of Argument or OneOf
        In the order of the help.
    call : callable
        Computes the answer from the given arguments; returns None if it has printed everything.
    """

    summary: str
    arguments: tuple[Argument | OneOf, ...]
    call: Callable[[Given], Answer | None]

    def each(self) -> Iterator[Argument]:
        """Yield every argument."""
        for one in self.arguments:
            yield from one.arguments if isinstance(one, OneOf) else (one,)


PROGRAM = About(
    name="sensitivity-lab",
    does="Compute the global sensitivity of a query for differential privacy, exactly, with the\n"
    "two neighboring datasets that prove it.",
    examples=(
        "sensitivity --domain age=0:100 --size 100 --query median --neighbors bounded",
        "noise --domain age=0:100 --size 100 --queries mean median --neighbors bounded --epsilon 1",
        "article --output results",
    ),
    more="Help for each command: sensitivity-lab COMMAND --help\n\n"
    "Tab completion needs argcomplete (pip install '.[completion]'):\n"
    '  bash, zsh: eval "$(register-python-argcomplete sensitivity-lab)"\n'
    "  fish:      register-python-argcomplete --shell fish sensitivity-lab | source\n\n"
    "Exit codes: 0; 1 a claim is violated; 2 bad input, or an output that cannot be written;\n"
    "70 an internal error, please report it; 130 after Ctrl-C.",
)

# Arguments that go together.

_RECORDS = (DATA, DOMAIN, COPIES)
_SEARCH = (METHOD, MEMORY_LIMIT, JOBS)

_SCHOOL = "data/school_large.csv --column absence_days"
_AGES = "--domain age=0:100"

_ROWS = (
    Command(
        name="curves",
        summary="sensitivity of several queries against the distance",
        does="The global sensitivity of several queries against the Hamming distance.",
        arguments=(
            *(*_RECORDS, SIZE, COLUMNS, QUERIES, EMPTY),
            *(REQUIRED_DISTANCES, SEVERAL_NEIGHBORS, DIRECTION),
            *(replace(OUTPUT, help="draw the curves into this file"), TABLE),
            *(EXACTLY, *_SEARCH, JSON, SCRATCH),
        ),
        call=answers.curves,
        examples=(
            "curves data/school_large.csv --size 6 --distances 1-4 --neighbors unbounded",
            "curves data/school_large.csv --columns absence_days --queries mean median var "
            "--size 6 --distances 1-4 --neighbors unbounded bounded --output curves.png",
            "curves --domain mood=1,2 --domain temperature=15:30:0.5 --size 4 --distances 1-3 "
            "--neighbors bounded --queries mean sum --table curves.csv",
            "curves - --size 6 --distance 1 --neighbors bounded --json < data/school_large.csv",
        ),
    ),
    Command(
        name="sensitivity",
        summary="sensitivity of one query, with the two datasets that prove it",
        does="The global sensitivity of one query, with the pair of datasets that proves it.",
        arguments=(
            *(*_RECORDS, SIZE, COLUMN, QUERY, EMPTY),
            *(NEIGHBORS, DIRECTION, DISTANCE),
            replace(OUTPUT, help="draw the two datasets into this file"),
            *(EXACTLY, *_SEARCH, JSON, SCRATCH),
        ),
        call=answers.sensitivity,
        examples=(
            f"sensitivity {_AGES} --size 100 --query median --neighbors bounded",
            f"sensitivity {_SCHOOL} --query mean --size 6 --neighbors unbounded --distance 2",
            f"sensitivity {_SCHOOL} --query std --size 6 --neighbors bounded --output witness.png",
        ),
    ),
    Command(
        name="formula",
        summary="sensitivity as a formula in n, k, L and U, proved",
        does="The global sensitivity of a query on records from L to U, for every number of records"
        "\nn and every distance k, as a formula that is proved.",
        arguments=(
            *(
                OF_FORMULA,
                replace(
                    NEIGHBORS, choices=("bounded", "unbounded"), required=False, default="bounded"
                ),
            ),
            JSON,
        ),
        call=answers.formula,
        examples=("formula var --neighbors bounded", "formula median --neighbors unbounded --json"),
        more="docs/reference/formulas.md lists them.",
    ),
    Command(
        name="local",
        summary="local sensitivity of one dataset",
        does="The local sensitivity: how much a query can change between one dataset and its\n"
        "neighbors. It reveals something about the dataset, so never scale noise to it.",
        arguments=(
            *(*_RECORDS, DATASET, COLUMN, QUERY),
            *(EMPTY, NEIGHBORS, DIRECTION, DISTANCE),
            replace(OUTPUT, help="draw the two datasets into this file"),
            *(EXACTLY, *_SEARCH, JSON),
        ),
        call=answers.local,
        examples=(
            f"local {_AGES} --dataset 20,35,35,50 --query median --neighbors bounded",
            "local --domain absence_days=0:20 --dataset data/school_large.csv --query mean "
            "--neighbors unbounded --distance 2",
        ),
    ),
    Command(
        name="noise",
        summary="noise scales for several answers that share one epsilon",
        does="Noise scales for several answers that are released together and share one epsilon, "
        "their\nprivacy loss: Laplace noise, or with --delta Gaussian noise. With a table and a "
        "domain,\nthe command plans a release of its numbers; `release` publishes it.",
        arguments=(
            replace(
                DATA,
                help="a table: use it with --domain; without one, see --public-universe",
            ),
            *(DOMAIN, PERSON, ROWS_PER_PERSON, GROUP_BY),
            *(COPIES, replace(SIZE, required=False), PUBLIC_UNIVERSE, COLUMNS),
            replace(
                REQUIRED_QUERIES,
                required=False,
                help=f"{REQUIRED_QUERIES.help}; default with a table and a domain: count, "
                "mean, median, std and histogram",
            ),
            *(EMPTY, replace(NEIGHBORS, required=False), DIRECTION, DISTANCE),
            *(EPSILON, DELTA, SPLIT),
            replace(TABLE, help="write the noise of every answer to this file"),
            *(*_SEARCH, JSON),
        ),
        call=answers.noise,
        examples=(
            f"noise {_AGES} --size 100 --queries mean median --neighbors bounded --epsilon 1",
            f"noise {_AGES} --size 100 --queries mean sum --neighbors bounded --epsilon 1 "
            "--delta 1e-6 --split 3 1",
            "noise --domain income=0:100000:1000 --size 500 --query mean --neighbors bounded "
            "--distance 5 --epsilon 0.5 --json",
            f"noise {_AGES} --size 2-1000 --queries mean count --neighbors unbounded --epsilon 1",
            "noise data/school_large.csv --domain absence_days=0:30 --person name "
            "--rows-per-person 2 --group-by school_year=1,2,3 --epsilon 1",
        ),
        more="For a table, first choose the domain without looking at the data: use the ends of a "
        "scale,\na legal limit or the possible values. Values outside the domain count as its "
        "nearest. Neighbors\nadd or remove one person.\n\n"
        "Without a table, --distance is the most rows that one person can have. The universe must "
        "be\npublic. If neighbors replace rows, the size must be public, too. If they add or "
        "remove rows,\npass every possible size, and the answer on too few rows with --empty.",
    ),
    Command(
        name="release",
        summary="publish counts, means, medians and histograms of a table",
        does="Publish numbers of a table with noise, into a new folder: tables, the plan, and its\n"
        "statement of privacy. `noise` with the same arguments, but for --publish, shows the plan.",
        arguments=(
            replace(DATA, nargs=None, help="the table: a CSV or a Parquet file"),
            *(DOMAIN, PERSON, ROWS_PER_PERSON, GROUP_BY, PUBLISHED_QUERIES),
            *(EPSILON, DELTA, SPLIT, replace(PUBLISH, required=True), LEDGER, RELEASE_NAME, JSON),
        ),
        call=release.release,
        examples=(
            "release data/school_large.csv --domain absence_days=0:30 --person name "
            "--rows-per-person 2 --group-by school_year=1,2,3 --epsilon 1 --publish absences",
        ),
        more="Publish once: a second release about the same people adds its epsilon to the first.\n"
        "It needs the extra: pip install '.[opendp]'",
    ),
    Command(
        name="audit",
        summary="is a claimed sensitivity right?",
        does="Is a claimed sensitivity right? The exit code is 1 if it is too small.",
        arguments=(
            *(*_RECORDS, SIZE, COLUMN, QUERY, EMPTY),
            *(NEIGHBORS, DIRECTION, OneOf((CLAIM, CLAIM_PER_K)), DISTANCES),
            *(replace(OUTPUT, help="draw the audit into this file"), TABLE),
            *(EXACTLY, *_SEARCH, JSON),
        ),
        call=answers.audit,
        examples=(
            f"audit {_SCHOOL} --query mean --claim-per-k 4 --size 6 --neighbors bounded "
            "--distances 1-3",
            f"audit {_AGES} --query sum --claim 100 --size 50 --neighbors bounded --json",
        ),
    ),
    Command(
        name="sql",
        summary="publish a query over joined tables, or see what each person adds to it",
        does="With --epsilon and --max-rows, plan the release of a SQL query over joined tables, "
        "and\nwith --publish, publish its answer. Without these, what each person adds to it, "
        "exactly;\nthat depends on the data: do not publish it.",
        arguments=(
            SQL,
            OneOf((SOURCES, DATABASE)),
            *(PERSONS, FOREIGN_KEYS, PUBLIC_TABLES, NULL_PERSON, BOUNDS, KEYS, JSON),
            *(replace(EPSILON, required=False), MAX_ROWS, DELTA, SPLIT, PUBLISH),
            *(LEDGER, RELEASE_NAME),
        ),
        call=database.contributions,
        examples=(
            "sql 'SELECT COUNT(*) FROM school' --table school=data/school_large.csv "
            "--person school.name",
            "sql 'SELECT school_year, SUM(absence_days) AS days FROM school GROUP BY school_year' "
            "--table school=data/school_large.csv --person school.name "
            "--bounds school.absence_days=0:30 --groups 1,2,3 --json",
            "sql 'SELECT school_year, COUNT(*) AS n FROM school GROUP BY school_year ORDER BY n' "
            "--table school=data/school_large.csv --person school.name --groups 1,2,3 "
            "--epsilon 1 --max-rows 2",
        ),
        more="Nothing of the query is executed as it came: see docs/how_to/sql.md.\n"
        "It needs the extra: pip install '.[sql]'",
    ),
    Command(
        name="article",
        summary="reproduce the article's figures and tables",
        does='Reproduce the figures and tables of the article "Global Sensitivity From Scratch".',
        arguments=(FOLDER, JSON),
        call=answers.article,
        examples=("article", "article --output results"),
    ),
    Command(
        name="explore",
        summary="the calculator on a page in the browser",
        does="The calculator on a page in the browser: the sensitivity, the worst case,\n"
        "the noise, and the code for them. Without a file it takes what you type.",
        arguments=(FILE, PORT, NO_BROWSER),
        call=explore,
        examples=(
            "explore",
            "explore data/school_large.csv --no-browser --port 8866",
        ),
        more="Only this machine can open the page, and it needs no network. Ctrl-C ends it.",
    ),
)

COMMANDS = {row.name: row for row in _ROWS}
"""Every command by its name, in the order of the help."""
