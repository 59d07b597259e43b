"""What each command does, with examples, as its ``--help`` shows them; the tests run them."""

from __future__ import annotations

from dataclasses import dataclass

_SCHOOL = "data/school_large.csv --column absence_days"
_AGES = "--domain age=0:100"


@dataclass(frozen=True)
class About:
    """What a command does.

    Attributes
    ----------
    does : str
        One or two sentences.
    examples : tuple of str
        Arguments that follow ``sensitivity-lab``.
    more : str
        What else the help says, after the examples.
    """

    does: str
    examples: tuple[str, ...] = ()
    more: str = ""

    @property
    def shown(self) -> str:
        """The examples as lines of the help."""
        lines = "\n".join(f"  sensitivity-lab {example}" for example in self.examples)
        return "\n\n".join(filter(None, (f"examples:\n{lines}", self.more)))


EXAMPLES = {
    "sensitivity-lab": About(
        "Exact sensitivity of queries over finite universes, with the two datasets that prove it.",
        (
            f"sensitivity {_AGES} --size 100 --query median --neighbors bounded",
            f"noise {_AGES} --size 100 --queries mean median --neighbors bounded --epsilon 1",
            "article --output results",
        ),
        "Every command has more: sensitivity-lab COMMAND --help\n\n"
        "Completion by the tab key needs argcomplete (pip install 'sensitivity_lab[completion]'):\n"
        '  bash, zsh: eval "$(register-python-argcomplete sensitivity-lab)"\n'
        "  fish:      register-python-argcomplete --shell fish sensitivity-lab | source\n\n"
        "Exit codes: 0; 1 a claim is violated; 2 bad input, or an output that cannot be written;\n"
        "70 a fault of the program, please report it; 130 after Ctrl-C.",
    ),
    "explore": About(
        "A page with sliders in the browser: the sensitivity, the worst case, the noise, and the\n"
        "code for them.",
        (
            "explore data/school_large.csv",
            "explore data/school_large.csv --no-browser --port 8866",
        ),
        "The page is served to this machine alone and needs no network. Ctrl-C ends it.\n"
        "It needs the extra: pip install 'sensitivity_lab[explore]'",
    ),
    "curves": About(
        "The global sensitivity of several queries against the Hamming distance.",
        (
            "curves data/school_large.csv --size 6 --distances 1-4 --neighbors unbounded",
            "curves data/school_large.csv --columns absence_days --queries mean median var "
            "--size 6 --distances 1-4 --neighbors unbounded bounded --output curves.png",
            "curves --domain mood=1,2 --domain temperature=15:30:0.5 --size 4 --distances 1-3 "
            "--neighbors bounded --queries mean sum --table curves.csv",
            "curves - --size 6 --distance 1 --neighbors bounded --json < data/school_large.csv",
        ),
    ),
    "sensitivity": About(
        "The global sensitivity of one query, with the pair of datasets that proves it.",
        (
            f"sensitivity {_AGES} --size 100 --query median --neighbors bounded",
            f"sensitivity {_SCHOOL} --query mean --size 6 --neighbors unbounded --distance 2",
            f"sensitivity {_SCHOOL} --query std --size 6 --neighbors bounded --output witness.png",
        ),
    ),
    "local": About(
        "The local sensitivity: how much a query can change between one dataset and its\n"
        "neighbors. It reveals something of the dataset, so never scale noise to it.",
        (
            f"local {_AGES} --dataset 20,35,35,50 --query median --neighbors bounded",
            "local --domain absence_days=0:20 --dataset data/school_large.csv --query mean "
            "--neighbors unbounded --distances 1-3",
        ),
    ),
    "smooth": About(
        "The smooth sensitivity of one dataset, and with --epsilon the noise for it: often far\n"
        "less than the global sensitivity asks for.",
        (
            f"smooth {_AGES} --dataset 20,35,35,50,50 --query median --neighbors bounded "
            "--epsilon 1",
            f"smooth {_AGES} --dataset 20,35,35,50,50 --query median --neighbors bounded "
            "--epsilon 1 --delta 1e-6 --json",
            f"smooth {_AGES} --dataset 20,35,35,50,50 --query mean --neighbors bounded --beta 0.1",
            f"smooth {_AGES} --dataset 20,35,35,50,50 --query median --neighbors bounded "
            "--distance 2 --epsilon 1",
        ),
        "Publish neither the smooth sensitivity nor the scale: they reveal something of the\n"
        "dataset.",
    ),
    "histogram": About(
        "The global sensitivity of a histogram, which counts the records in categories or in bins.",
        (
            "histogram --domain ward=north,south,east --size 50 --neighbors bounded",
            "histogram data/school_large.csv --column absence_days --bins 0 5 10 20 --size 6 "
            "--neighbors bounded --norm L2",
        ),
    ),
    "noise": About(
        "Noise scales for several answers that are released together and share one epsilon, their\n"
        "privacy loss: Laplace noise, or with --delta Gaussian noise.",
        (
            f"noise {_AGES} --size 100 --queries mean median --neighbors bounded --epsilon 1",
            f"noise {_AGES} --size 100 --queries mean sum --neighbors bounded --epsilon 1 "
            "--delta 1e-6 --split 3 1",
            "noise --domain income=0:100000:1000 --size 500 --query mean --neighbors bounded "
            "--distance 5 --epsilon 0.5 --json",
            f"noise {_AGES} --size 2-1000 --queries mean count --neighbors unbounded --epsilon 1",
        ),
        "--distance is the most rows that one person can own. The universe must be public: choose\n"
        "the values of the domain without a look at the data. So must the size, where rows are\n"
        "replaced; where they are added or removed, give every size that the data can have.",
    ),
    "audit": About(
        "Is a claimed sensitivity right? The exit code is 1 if it is too small.",
        (
            f"audit {_SCHOOL} --query mean --claim-per-k 4 --size 6 --neighbors bounded "
            "--distances 1-3",
            f"audit {_AGES} --query sum --claim 100 --size 50 --neighbors bounded --json",
        ),
    ),
    "article": About(
        'Reproduce the figures and tables of the article "Global Sensitivity From Scratch".',
        ("article", "article --output results"),
    ),
}
"""By the name of the command, and of the program itself."""
