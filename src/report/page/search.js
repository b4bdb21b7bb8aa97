// What pictures of a search tell of a configuration, in the user's words.
const study = (() => {
    const rows = JSON.parse(document.querySelector("#data").textContent);
    const places = new Map(rows.map(({ m, p }, index) => [`${m},${p}`, index]));
    return { places, describe: (index) => rows[index].lines, select: (index) => charts.select(index) };
})();
