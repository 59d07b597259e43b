// Orders the results of the search: first what answers a question, then what names are, then history.
const PLACES = [
  [/^(start|how_to\/)/, 12],
  [/^(understand\/|glossary|reference\/tables|reference\/messages)/, 6],
  [/^(changelog|contributing|security|sweep|sources|proofs|data)/, -40],
  [/^(genindex|py-modindex)/, -60],
];

window.Scorer = {
  score: ([docname, , , , score]) =>
    score + (PLACES.find(([pattern]) => pattern.test(docname)) ?? [null, 0])[1],
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
