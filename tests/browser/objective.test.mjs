// Pages of other objectives: what-if answers in them, as `mmgp predict` does.
import assert from "node:assert/strict";
import { test } from "node:test";

import { OBJECTIVES, at, browser, difference, mmgp, open } from "./fixtures.mjs";

const shared = browser();

/** What predict answers to the question of a page, with terms scaled. */
function predict(name, ...more) {
    const [of, ...options] = OBJECTIVES[name];
    const params = of.endsWith(".toml") ? at(of) : of;
    return JSON.parse(mmgp("predict", "--params", params, ...options, ...more, "--format", "json"));
}

/** What a row of predict has of the objective. */
const amountOf = (row) => row.objective ?? row.rate ?? row.time_s;

for (const name of Object.keys(OBJECTIVES)) {
    test(`what-if has the order, the amounts and the choice of predict: ${name}`, async () => {
        const hash = "#what-if&t_hpu_s=x4";
        const { page, complaints, context } = await open(shared, `${name}.html`, { hash });
        const found = await page.evaluate(() => {
            const { ranking, outcomes } = whatIf.result();
            const told = ({ m, p, product }) =>
                m.map((each, k) => [each, p[k], objective.amount(product[k])]);
            const { old, best } = outcomes[0];
            return { now: told(ranking), given: told(whatIf.base), old, best };
        });
        for (const [rows, choice, answer] of [
            [found.given, found.old, predict(name)],
            [found.now, found.best, predict(name, "--scale", "t_hpu_s=4")],
        ]) {
            const expected = answer.configurations;
            const pair = ([m, p]) => [m, p];
            assert.deepEqual(
                rows.map(pair),
                expected.map(({ m, p }) => [m, p]),
            );
            rows.forEach(([m, p, amount], k) =>
                assert.ok(
                    difference(amount, amountOf(expected[k])) <= 1e-11,
                    `(${m}, ${p}): ${amount}, ${amountOf(expected[k])}`,
                ),
            );
            assert.deepEqual([choice.m, choice.p], [answer.choice.m, answer.choice.p]);
        }
        assert.deepEqual(complaints, []);
        await context.close();
    });
}

test("amounts have their unit in the sentence, the table and the picture, and rates no seconds", async () => {
    const { page, context } = await open(shared, "rates.html", { hash: "#what-if&t_hpu_s=x4" });
    const said = await page.locator("#what-if").innerText();
    assert.match(said, /is now the choice, 40\.\d+\u00a0ns\/day: 0\.36\d+ times the rate of/);
    assert.match(said, /rate, equation 11 and its misfit \[ns\/day\]/);
    assert.match(said, /Largest rate for each m/);
    assert.doesNotMatch(said, /\d[\u00a0 ]?[mµn]?s(?![\w/])/);
    await context.close();
});

test("an objective of this page's configurations refuses more APUs, and says why", async () => {
    const { page, context } = await open(shared, "cost.html", { hash: "#what-if&apus=64" });
    const panel = page.locator("#what-if");
    assert.match(await panel.locator(".message").innerText(), /Nothing is changed/);
    assert.match(await panel.innerText(), /so no more than 32 APUs can be asked about/);
    await panel.getByLabel("APUs", { exact: true }).fill("33");
    assert.match(await panel.locator("#wrong-apus").innerText(), /from 1 to 32/);
    await context.close();
});

test("without scripts the page is words, tables and pictures", async () => {
    const { page, context } = await open(shared, "cost.html", { javaScriptEnabled: false });
    assert.equal(await page.locator("#what-if:visible").count(), 0);
    assert.equal(await page.getByRole("link", { name: "What if" }).count(), 0);
    assert.equal(await page.locator("#answer:visible").count(), 1);
    await context.close();
});
