// The page of a user's own runs: what is believed given them stands first, and what-if keeps it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { at, browser, difference, mmgp, open, placeOf } from "./fixtures.mjs";

const shared = browser();
const predict = (...options) =>
    JSON.parse(mmgp("predict", "--params", at("runs.toml"), ...options, "--format", "json"))
        .configurations;

/** Holds columns to the library's ranking: the same order, the same times. */
function compare({ m, p }, times, expected) {
    const pairs = expected.map((each) => [each.m, each.p]);
    assert.deepEqual(
        m.map((each, k) => [each, p[k]]),
        pairs,
    );
    expected.forEach(({ time_s }, k) =>
        assert.ok(difference(times[k], time_s) <= 1e-12, `${pairs[k]}: ${times[k]}, ${time_s}`),
    );
}

test("what is ranked is what is believed given the runs, and equation 11 keeps its own times", async () => {
    const { page, context } = await open(shared, "runs.html");
    const columns = await page.evaluate(() => study.configurations);
    compare(columns, columns.believed_s, predict());
    assert.ok(columns.time_s.some((time, k) => difference(time, columns.believed_s[k]) > 0.01));
    const given = await page.evaluate(() => whatIf.base);
    compare(given, given.time_s, predict());
    await context.close();
});

test("a changed term moves every time by the ratio of equation 11 alone", async () => {
    const { page, context } = await open(shared, "runs.html", { hash: "#what-if&t_apu_s=x4" });
    const now = await page.evaluate(() => whatIf.result().ranking);
    compare(now, now.time_s, predict("--scale", "t_apu_s=4"));
    assert.doesNotMatch(await page.locator("#what-if .message").innerText(), /beyond/);
    await context.close();
});

test("more APUs bring in what was not timed, marked and said", async () => {
    const { page, context } = await open(shared, "runs.html", { hash: "#what-if&apus=32" });
    const said = await page.locator("#what-if .message").innerText();
    assert.match(said, /lie outside the measured m = 1 to 4 and p = 1 to 8; they are marked \*/);
    const { m, p } = await page.evaluate(() => whatIf.result().ranking);
    assert.ok(m.some((each, k) => each > 4 && p[k] < 8));
    await context.close();
});

test("tooltips, the panel and the table have the measured time and how often it was run", async () => {
    const { page, context } = await open(shared, "runs.html");
    const { x, y } = await placeOf(page, "Time of every configuration (m, p)", [2, 2]);
    await page.mouse.move(x, y);
    const tip = page.locator("#tip");
    await tip.waitFor({ state: "visible" });
    const shown = await tip.innerText();
    assert.match(shown, /given the runs: .* to /);
    assert.match(shown, /measured: .* \(2 runs\)/);
    await page.mouse.click(x, y);
    assert.match(await page.locator("#selection").innerText(), /measured\s+.* \(2 runs\)/);
    const heads = await page.locator("#configurations th").allInnerTexts();
    for (const title of ["given the runs [s]", "measured [s]", "runs", "equation 11 [s]"])
        assert.ok(heads.includes(title), `${title} of ${heads}`);
    await context.close();
});

test("the answer is of the runs alone", async () => {
    const { page, context } = await open(shared, "runs.html");
    const answer = await page.locator("#answer").innerText();
    assert.match(answer, /the fastest that was timed is \(4, 2\)/);
    assert.doesNotMatch(await page.locator("main").innerText(), /emulat/i);
    await context.close();
});
