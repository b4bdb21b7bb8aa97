// The what-if panel, where this page's equations are the library's.
const whatIfSection = (() => {
    const { element } = text;

    /** Compares the page's equations with the library's; the what-if panel stands on this. */
    function check() {
        const found = equations.largestDifference(study.data.parameters, study.configurations);
        const isEqual = Object.values(found).every(
            (each) => each === null || each <= equations.TOLERANCE,
        );
        const words = (value) => (value === 0 ? "0" : text.digits(value));
        const refined =
            found.refined_s === null ? "" : `, of the refined model ${words(found.refined_s)}`;
        const sentence = `Over ${text.count(study.size)} configurations, the largest relative difference between this page's own evaluation and the library's: of equation 11 ${words(found.time_s)}${refined}; at most 1e−12 is allowed.`;
        return { isEqual, sentence };
    }

    /** Draws the panel, or says why there is none; what the comparison found. */
    function draw(parent) {
        const { isEqual, sentence } = check();
        if (isEqual) {
            whatIfPanel.create(parent);
            return { sentence };
        }
        const warning = `This page evaluates the model otherwise than the library did, so it answers no what-if. ${sentence}`;
        parent.append(element("p", { class: "alarm", role: "alert" }, warning));
        return { sentence };
    }

    return { draw };
})();
