// Makes the pages that the tests open, each by the real command from input as a user has it.
import fs from "node:fs";

import { HOSTILE, LONG, OBJECTIVES, REVERSED, at, mmgp } from "./fixtures.mjs";

const report = (of, page) => mmgp("report", of, "--out", at(page));
const write = (name, content) => fs.writeFileSync(at(name), content);

/** A value of a parameter file as TOML. */
const quoted = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, escape16);
const escape16 = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

// A study from end to end, short enough for a test; or one that is there already.
if (process.env.MMGP_STUDY) fs.cpSync(process.env.MMGP_STUDY, at("study"), { recursive: true });
else mmgp("study", "--generations", "20", "--out", at("study"));
report(at("study"), "study.html");
report("pbpi-qs20", "published.html");
report("raxml-qs20", "tasks.html");

// The same study by other decompositions and refined terms, so that the page's own evaluation is
// held to the library's on every path through the equations.
const refined = fs.readFileSync(at("study/refined.toml"), "utf8");
const [head, tail] = refined.split("[refined]");
const tasks = (text) =>
    text.replace('decomposition = "data"', 'decomposition = "task"\ntasks = 13');
const apus = (text, count) => text.replace(/^apus = .*$/m, `apus = ${count}`);
write("refined-tasks.toml", tasks(refined));
write(
    "refined-by-apu.toml",
    `${apus(head, 40)}[refined]\niterations = 100\nwork_growth_s = 1e-4\nexposed_transfer_s = 9e-7\n` +
        "memory_demand_bytes_per_s = 3e9\nmemory_bandwidth_bytes_per_s = 2e10\nmemories = 3\n" +
        'memory_of = "apu"\n',
);
write("refined-contexts.toml", `${apus(head, 300)}[refined]\nhardware_contexts = 6\n`);
// Powers of two, so that no digit is lost on the way through a text.
const term = /^(t_apu_s = \{ value = )([^,]+)/gm;
const fourfold = (all, start, value) => `${start}${Number(value) * 4}`;
write("refined-what-if.toml", `${apus(head, 32).replace(term, fourfold)}[refined]${tail}`);
write(
    "constants.toml",
    'schema = 1\nname = "constants"\ndecomposition = "task"\ntasks = 5\napus = 24\n[terms]\n' +
        "t_hpu_s = 0.3\nt_apu_s = 7.0\nc_apu_s = 0.1\noffloads = 1000\no_offload_s = 1e-5\n" +
        "t_csw_s = 2e-6\ng_s = 1e-5\nalpha = 1.7\no_col_s = { m = [3, 8], value = [1e-5, 4e-5] }\n",
);
for (const name of [
    "refined-tasks",
    "refined-by-apu",
    "refined-contexts",
    "refined-what-if",
    "constants",
]) {
    report(at(`${name}.toml`), `${name}.html`);
}

// Runs of a program that runs into the bandwidth of its memory beyond eight APUs.
const timed = [[1, 1], [1, 4], [1, 8], [2, 1], [2, 2], [4, 1], [4, 2], [4, 4]].flatMap(([m, p]) =>
    [1.004, 0.996].map((scatter, k) => {
        const time = (2 + 60 / Math.min(m * p, 8) + 0.1 * p) * scatter;
        return `${m},${p},${k + 1},${time}\n`;
    }),
);
write("runs.csv", `m,p,repetition,time_s\n${timed.join("")}`);
mmgp("fit", "--runs", at("runs.csv"), "--out", at("runs.toml"));
report(at("runs.toml"), "runs.html");

// A host beside whose 100 s the work of accelerators shows in the fifth digit at most; and runs of which
// all take as long.
const host = ["t_hpu_s = 100.0", "t_apu_s = 0.06", "c_apu_s = 0", "offloads = 1", "o_offload_s = 0"];
write(
    "ties.toml",
    'schema = 1\nname = "ties"\ndecomposition = "data"\napus = 16\n[terms]\n' +
        `${host.join("\n")}\nt_csw_s = 0\ng_s = 0\nalpha = 1.0\no_col_s = 0\n`,
);
report(at("ties.toml"), "ties.html");
const flat = [1, 2, 4].flatMap((m) => [1, 2, 4].map((p) => `${m},${p},1,50\n${m},${p},2,50\n`));
write("flat.csv", `m,p,repetition,time_s\n${flat.join("")}`);
mmgp("fit", "--runs", at("flat.csv"), "--out", at("flat.toml"));
report(at("flat.toml"), "flat.html");

// The same program by other objectives, and as rates; by cost without runs, too.
const grid = [1, 2, 4, 8].flatMap((m) => [1, 2, 4].map((p) => [m, p]));
const table = (column, of) =>
    `m,p,${column}\n${grid.map(([m, p]) => `${m},${p},${of(3 + 0.2 * m + 100 / (m * p))}\n`).join("")}`;
write("times.csv", table("time_s", (time) => time));
write("rates.csv", table("ns/day", (time) => 864 / time));
mmgp("fit", "--runs", at("times.csv"), "--out", at("times.toml"));
mmgp("fit", "--runs", at("rates.csv"), "--rate", "ns/day", "--out", at("rates.toml"));
for (const [name, [of, ...options]] of Object.entries(OBJECTIVES))
    mmgp("report", of.endsWith(".toml") ? at(of) : of, ...options, "--out", at(`${name}.html`));

// Some 5,000 configurations.
write("many.toml", apus(refined, 739));
report(at("many.toml"), "many.html");

// Names that would be more than text, wherever a file lets a user write one.
const phase = (name, share) =>
    `[[phases]]\nname = ${quoted(name)}\nt_hpu_s = ${2 * share}\nt_apu_s = ${32 * share}\n` +
    `c_apu_s = ${share}\noffloads = ${8 * share}\ng_s = 0.001\n`;
const named = quoted(HOSTILE);
fs.mkdirSync(at("hostile"));
write(
    "hostile/params.toml",
    `schema = 1\nname = ${quoted(HOSTILE + REVERSED + LONG)}\ndecomposition = "data"\napus = 16\n[terms]\n` +
        `t_hpu_s = { value = 2, std_error = 0.1, source = ${named} }\n` +
        `t_apu_s = { value = 32, std_error = 0.5, source = ${quoted(LONG)} }\n` +
        `c_apu_s = { value = 1, source = ${quoted(REVERSED)} }\noffloads = 8\no_offload_s = 0.001\n` +
        `t_csw_s = 0.001\ng_s = 0.001\nalpha = { value = 1.2, source = ${named} }\no_col_s = 0.01\n` +
        phase(HOSTILE, 0.5) +
        phase(REVERSED, 0.25) +
        phase(LONG, 0.25),
);
const input = (file) => ({ file, bytes: 3, sha256: "0".repeat(64), role: HOSTILE });
write(
    "hostile/study.json",
    JSON.stringify({
        command: HOSTILE,
        version: HOSTILE,
        seed: 1,
        application: REVERSED,
        machine: { name: LONG, description: HOSTILE },
        inputs: [input(HOSTILE), input(LONG), input(REVERSED)],
        warnings: [HOSTILE, LONG],
    }),
);
report(at("hostile"), "hostile.html");

// A search whose program says what no page should run, and fails where there are more than four cores.
write(
    "program.sh",
    '[ $(($1 * $2)) -gt 4 ] && { printf "error: %s\\n" "$HOSTILE" >&2; exit 3; }\n' +
        "echo t=$((400 / $1 / $2 + 10 * $1)) ms\n",
);
mmgp(
    ...["tune", "--m", "1,2,4", "--p", "1,2,4", "--names", "ranks,threads", "--runs", "9", "--out", at("search")],
    ...["--env", `HOSTILE=${HOSTILE}`, "--time-from", "t=([0-9]+) ms", "--until-regret", "1%", "--"],
    ...["sh", at("program.sh"), "{m}", "{p}"],
);
fs.copyFileSync(at("search/report.html"), at("search.html"));
