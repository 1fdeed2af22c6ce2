"""The five papers, each a study: its arms, and the claims that contrasts between them decide."""

from lexigraft.study.design import Study
from lexigraft.study.papers.corpus_vocabulary import CORPUS_VOCABULARY
from lexigraft.study.papers.pretraining import PRETRAINING
from lexigraft.study.papers.rescaling import RESCALING
from lexigraft.study.papers.vocabulary import VOCABULARY
from lexigraft.study.papers.wackiness import WACKINESS

STUDIES: dict[str, Study] = {
    study.name: study for study in (VOCABULARY, PRETRAINING, RESCALING, WACKINESS, CORPUS_VOCABULARY)
}
