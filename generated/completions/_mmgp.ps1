
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'mmgp' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'mmgp'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'mmgp' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('study', 'study', [CompletionResultType]::ParameterValue, 'Do everything once: measure, fit, predict, emulate every (m, p), compare, draw')
            [CompletionResult]::new('bench', 'bench', [CompletionResultType]::ParameterValue, 'Run the micro-benchmarks on a machine and write their CSV files')
            [CompletionResult]::new('profile', 'profile', [CompletionResultType]::ParameterValue, 'Profile a sequential run (m = p = 1) of a program')
            [CompletionResult]::new('fit', 'fit', [CompletionResultType]::ParameterValue, 'Estimate the parameters of the model from measured tables')
            [CompletionResult]::new('predict', 'predict', [CompletionResultType]::ParameterValue, 'Rank every feasible configuration (m, p), predict one, or weigh the choice')
            [CompletionResult]::new('emulate', 'emulate', [CompletionResultType]::ParameterValue, 'Run a program once on the emulated machine')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Run every feasible (m, p) on the emulated machine, beside the prediction')
            [CompletionResult]::new('plot', 'plot', [CompletionResultType]::ParameterValue, 'Draw what was found: modelled against measured times, and more')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Make a page of a study: one HTML file with answer, pictures, tables and what-if')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Hand parameters or timed runs over to other tools')
            [CompletionResult]::new('check-machine', 'check-machine', [CompletionResultType]::ParameterValue, 'Hold the emulated machine against what has been published about the real one')
            [CompletionResult]::new('likelihood', 'likelihood', [CompletionResultType]::ParameterValue, 'Log-likelihood of a tree, through RAxML''s SPU kernels')
            [CompletionResult]::new('simulate-alignment', 'simulate-alignment', [CompletionResultType]::ParameterValue, 'Simulate an alignment along a tree, under JC69')
            [CompletionResult]::new('spu-timing', 'spu-timing', [CompletionResultType]::ParameterValue, 'Time an SPU assembly listing: when each instruction issues, and why not before')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write one for each command')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print what makes a shell complete commands and flags')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mmgp;study' {
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the files')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads of this computer to use; without it, all')
            [CompletionResult]::new('--app', '--app', [CompletionResultType]::ParameterName, 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Tree to start from (Newick); without it, a random one, with RAxML as --start says')
            [CompletionResult]::new('--generations', '--generations', [CompletionResultType]::ParameterName, 'Generations of PBPI''s Markov chain')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of all random numbers')
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'In which memory the data of a process lie')
            [CompletionResult]::new('--chains', '--chains', [CompletionResultType]::ParameterName, 'Chains at different temperatures, which swap them (Metropolis coupling)')
            [CompletionResult]::new('--rows', '--rows', [CompletionResultType]::ParameterName, 'Rows of host processes, which share the chains; must divide m')
            [CompletionResult]::new('--heating', '--heating', [CompletionResultType]::ParameterName, 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...')
            [CompletionResult]::new('--swap-every', '--swap-every', [CompletionResultType]::ParameterName, 'Generations between two attempts to swap')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'How rates vary over sites, under GTR with empirical frequencies')
            [CompletionResult]::new('--inferences', '--inferences', [CompletionResultType]::ParameterName, 'Searches from different starts [default: 1 for emulate, else 0]')
            [CompletionResult]::new('--bootstraps', '--bootstraps', [CompletionResultType]::ParameterName, 'Searches on resampled columns [default: 3 for emulate, else 16]')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'How the functions of RAxML run')
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'How much is searched')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no summary')
            [CompletionResult]::new('--original-acceptance', '--original-acceptance', [CompletionResultType]::ParameterName, 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;bench' {
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the files')
            [CompletionResult]::new('--repetitions', '--repetitions', [CompletionResultType]::ParameterName, 'Repetitions of each measurement')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of all random numbers')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'mmgp;profile' {
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; without it, standard output')
            [CompletionResult]::new('--repetitions', '--repetitions', [CompletionResultType]::ParameterName, 'Repetitions of the run')
            [CompletionResult]::new('--app', '--app', [CompletionResultType]::ParameterName, 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Tree to start from (Newick); without it, a random one, with RAxML as --start says')
            [CompletionResult]::new('--generations', '--generations', [CompletionResultType]::ParameterName, 'Generations of PBPI''s Markov chain')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of all random numbers')
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'In which memory the data of a process lie')
            [CompletionResult]::new('--chains', '--chains', [CompletionResultType]::ParameterName, 'Chains at different temperatures, which swap them (Metropolis coupling)')
            [CompletionResult]::new('--rows', '--rows', [CompletionResultType]::ParameterName, 'Rows of host processes, which share the chains; must divide m')
            [CompletionResult]::new('--heating', '--heating', [CompletionResultType]::ParameterName, 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...')
            [CompletionResult]::new('--swap-every', '--swap-every', [CompletionResultType]::ParameterName, 'Generations between two attempts to swap')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'How rates vary over sites, under GTR with empirical frequencies')
            [CompletionResult]::new('--inferences', '--inferences', [CompletionResultType]::ParameterName, 'Searches from different starts [default: 1 for emulate, else 0]')
            [CompletionResult]::new('--bootstraps', '--bootstraps', [CompletionResultType]::ParameterName, 'Searches on resampled columns [default: 3 for emulate, else 16]')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'How the functions of RAxML run')
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'How much is searched')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress')
            [CompletionResult]::new('--original-acceptance', '--original-acceptance', [CompletionResultType]::ParameterName, 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;fit' {
            [CompletionResult]::new('--alpha', '--alpha', [CompletionResultType]::ParameterName, 'Concurrent matrix products: matrix_size,processes,repetition,time_s')
            [CompletionResult]::new('--offload', '--offload', [CompletionResultType]::ParameterName, 'Ping-pong: bytes,repetition,round_trips,time_s')
            [CompletionResult]::new('--context-switch', '--context-switch', [CompletionResultType]::ParameterName, 'Repeated yield: processes,repetition,switches,time_s')
            [CompletionResult]::new('--collective', '--collective', [CompletionResultType]::ParameterName, 'Collectives: operation,ranks,bytes,repetition,calls,time_s')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Sequential profile: phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s, apu_serial_time_s,gap_time_s')
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'Timed runs: m,p,repetition,time_s as CSV, or what Extra-P or hyperfine wrote')
            [CompletionResult]::new('--prior', '--prior', [CompletionResultType]::ParameterName, 'Parameters believed of what no file measures, each with its standard error: an earlier fit, a similar program')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Parameter file to write; without it, standard output')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write how each value was obtained as JSON')
            [CompletionResult]::new('--require', '--require', [CompletionResultType]::ParameterName, 'Terms that must be known as themselves, not in a sum: t_hpu_s,g_s; exit code 1 and the reasons as JSON on standard output where the data cannot say')
            [CompletionResult]::new('--robust', '--robust', [CompletionResultType]::ParameterName, 'Loss that single wild runs cannot move')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Bootstrap intervals from so many resamples')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the resamples')
            [CompletionResult]::new('--alpha-shape', '--alpha-shape', [CompletionResultType]::ParameterName, 'Shape of alpha over m; without it, cross-validation chooses')
            [CompletionResult]::new('--collective-shape', '--collective-shape', [CompletionResultType]::ParameterName, 'Shape of O_COL over ranks; without it, cross-validation chooses')
            [CompletionResult]::new('--operation', '--operation', [CompletionResultType]::ParameterName, 'The collective operation that the program calls; without it, the mean over all measured')
            [CompletionResult]::new('--operation-bytes', '--operation-bytes', [CompletionResultType]::ParameterName, 'The bytes that each rank contributes to it; without it, the mean over all measured')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the parameter set')
            [CompletionResult]::new('--decomposition', '--decomposition', [CompletionResultType]::ParameterName, 'How the program divides its work among host threads')
            [CompletionResult]::new('--tasks', '--tasks', [CompletionResultType]::ParameterName, 'Independent tasks of a task decomposition')
            [CompletionResult]::new('--apus', '--apus', [CompletionResultType]::ParameterName, 'APUs available; without it, as many as the largest measurement used')
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine whose APUs are available: a built-in name or a TOML file')
            [CompletionResult]::new('--iterations', '--iterations', [CompletionResultType]::ParameterName, 'Pieces into which the shared loops can be cut: division is uneven')
            [CompletionResult]::new('--hardware-contexts', '--hardware-contexts', [CompletionResultType]::ParameterName, 'Hardware contexts of the host: switches and queueing only beyond')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Accelerators that stream from one memory: accelerators,bytes,repetition,time_s')
            [CompletionResult]::new('--memories', '--memories', [CompletionResultType]::ParameterName, 'Memories of the machine')
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'How the data are dealt to them')
            [CompletionResult]::new('--moved-bytes', '--moved-bytes', [CompletionResultType]::ParameterName, 'Bytes that all off-loads of a sequential run move')
            [CompletionResult]::new('--exposed-bytes', '--exposed-bytes', [CompletionResultType]::ParameterName, 'Bytes of them that an off-load waits for, before its first and after its last computation')
            [CompletionResult]::new('--refined-out', '--refined-out', [CompletionResultType]::ParameterName, 'Parameter file of the refined model to write')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Do not print how each term was obtained')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;predict' {
            [CompletionResult]::new('--params', '--params', [CompletionResultType]::ParameterName, 'Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model: mmgp is equation 11, refined the same with the [refined] terms of the parameters')
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine whose APUs are available instead of those in the parameters')
            [CompletionResult]::new('--apus', '--apus', [CompletionResultType]::ParameterName, 'APUs available instead of those in the parameters')
            [CompletionResult]::new('--m', '--m', [CompletionResultType]::ParameterName, 'Host threads of the one configuration to predict')
            [CompletionResult]::new('--p', '--p', [CompletionResultType]::ParameterName, 'APUs of each host thread in that configuration')
            [CompletionResult]::new('--top', '--top', [CompletionResultType]::ParameterName, 'Print only so many, best first')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; without it, standard output')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the draws behind the probabilities')
            [CompletionResult]::new('--noise', '--noise', [CompletionResultType]::ParameterName, 'Relative noise of a single timed run')
            [CompletionResult]::new('--host-factor', '--host-factor', [CompletionResultType]::ParameterName, 'Time of the off-loaded part on the host, relative to one APU')
            [CompletionResult]::new('--change-cost', '--change-cost', [CompletionResultType]::ParameterName, 'What every change of p from one phase to the next costs [s]')
            [CompletionResult]::new('--phase-rounds', '--phase-rounds', [CompletionResultType]::ParameterName, 'How often the phases follow one another; their terms are totals over all rounds')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Rank (n, m, p) with up to so many nodes, each with the APUs and constraints of one; an extension of the model that no publication has measured')
            [CompletionResult]::new('--node-overhead', '--node-overhead', [CompletionResultType]::ParameterName, 'What every collective (off-load, where collectives are not counted) costs more as soon as there are several nodes [s]')
            [CompletionResult]::new('--node-collective', '--node-collective', [CompletionResultType]::ParameterName, 'What it costs for each step of a tree over the nodes, ceil(log2 n) of them [s]')
            [CompletionResult]::new('--min-m', '--min-m', [CompletionResultType]::ParameterName, 'The fewest host threads')
            [CompletionResult]::new('--max-m', '--max-m', [CompletionResultType]::ParameterName, 'The most host threads')
            [CompletionResult]::new('--min-p', '--min-p', [CompletionResultType]::ParameterName, 'The fewest APUs for each thread')
            [CompletionResult]::new('--max-p', '--max-p', [CompletionResultType]::ParameterName, 'The most APUs for each thread')
            [CompletionResult]::new('--m-divides', '--m-divides', [CompletionResultType]::ParameterName, 'm must divide this number')
            [CompletionResult]::new('--p-divides', '--p-divides', [CompletionResultType]::ParameterName, 'p must divide this number')
            [CompletionResult]::new('--apus-per-chip', '--apus-per-chip', [CompletionResultType]::ParameterName, 'The APUs of a thread lie on one chip of so many; a chip holds whole threads only, and what is left of the APUs is a smaller chip')
            [CompletionResult]::new('--scale', '--scale', [CompletionResultType]::ParameterName, 'What if a term were so many times as large: o_offload_s=0.5; repeatable. Its standard error scales with it; of alpha, the excess over 1 does. `alpha(8)` is one entry of a table')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Take one configuration, the best or that of --m and --p, apart: the terms of its time, what it answers to, and which error makes its interval')
            [CompletionResult]::new('--next', '--next', [CompletionResultType]::ParameterName, 'Rank what could be measured next by how much it lowers the expected regret of the choice: one further timed run at each (m, p), or the micro-benchmark of a term until its standard error has halved')
            [CompletionResult]::new('--break-even', '--break-even', [CompletionResultType]::ParameterName, 'From what size of a task off-loading pays, for each p, and up to how many APUs')
            [CompletionResult]::new('--per-phase', '--per-phase', [CompletionResultType]::ParameterName, 'Choose an own p for each of the [[phases]] of the parameters, for every m')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;emulate' {
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file')
            [CompletionResult]::new('--m', '--m', [CompletionResultType]::ParameterName, 'Host processes')
            [CompletionResult]::new('--p', '--p', [CompletionResultType]::ParameterName, 'SPEs of each host process')
            [CompletionResult]::new('--scheduler', '--scheduler', [CompletionResultType]::ParameterName, 'Scheduler of the host processes')
            [CompletionResult]::new('--timing', '--timing', [CompletionResultType]::ParameterName, 'Whether kernels are timed at every call, or once for each shape')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; without it, standard output. With RAxML a folder for its trees and the report, which goes to standard output as well')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'File for a trace of the run, in the JSON format of Chrome and Perfetto. `-` is standard output, which then has nothing else: the report goes to --out or nowhere')
            [CompletionResult]::new('--app', '--app', [CompletionResultType]::ParameterName, 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Tree to start from (Newick); without it, a random one, with RAxML as --start says')
            [CompletionResult]::new('--generations', '--generations', [CompletionResultType]::ParameterName, 'Generations of PBPI''s Markov chain')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of all random numbers')
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'In which memory the data of a process lie')
            [CompletionResult]::new('--chains', '--chains', [CompletionResultType]::ParameterName, 'Chains at different temperatures, which swap them (Metropolis coupling)')
            [CompletionResult]::new('--rows', '--rows', [CompletionResultType]::ParameterName, 'Rows of host processes, which share the chains; must divide m')
            [CompletionResult]::new('--heating', '--heating', [CompletionResultType]::ParameterName, 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...')
            [CompletionResult]::new('--swap-every', '--swap-every', [CompletionResultType]::ParameterName, 'Generations between two attempts to swap')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'How rates vary over sites, under GTR with empirical frequencies')
            [CompletionResult]::new('--inferences', '--inferences', [CompletionResultType]::ParameterName, 'Searches from different starts [default: 1 for emulate, else 0]')
            [CompletionResult]::new('--bootstraps', '--bootstraps', [CompletionResultType]::ParameterName, 'Searches on resampled columns [default: 3 for emulate, else 16]')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'How the functions of RAxML run')
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'How much is searched')
            [CompletionResult]::new('--sample-every', '--sample-every', [CompletionResultType]::ParameterName, 'Sample the cold chain after every N-th generation [default: 10 with --samples or --consensus, else never]')
            [CompletionResult]::new('--samples', '--samples', [CompletionResultType]::ParameterName, 'File for the samples (CSV): generation, ln likelihood, tree')
            [CompletionResult]::new('--burn-in', '--burn-in', [CompletionResultType]::ParameterName, 'Share of the generations that comes before those that count for the consensus')
            [CompletionResult]::new('--consensus', '--consensus', [CompletionResultType]::ParameterName, 'File for the majority-rule consensus of the samples, with posterior probabilities (Newick)')
            [CompletionResult]::new('--check-hazards', '--check-hazards', [CompletionResultType]::ParameterName, 'Look for data that an SPE touches while a DMA command may still move them; the first such hazard ends the run')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress')
            [CompletionResult]::new('--original-acceptance', '--original-acceptance', [CompletionResultType]::ParameterName, 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;validate' {
            [CompletionResult]::new('--params', '--params', [CompletionResultType]::ParameterName, 'Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)')
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the files')
            [CompletionResult]::new('--fail-above', '--fail-above', [CompletionResultType]::ParameterName, 'Fail where the mean error over all configurations is above this [%]')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads of this computer to use; without it, all')
            [CompletionResult]::new('--app', '--app', [CompletionResultType]::ParameterName, 'Application: pbpi (trees by Bayesian inference) or raxml (trees of maximum likelihood)')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa, 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Tree to start from (Newick); without it, a random one, with RAxML as --start says')
            [CompletionResult]::new('--generations', '--generations', [CompletionResultType]::ParameterName, 'Generations of PBPI''s Markov chain')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of all random numbers')
            [CompletionResult]::new('--placement', '--placement', [CompletionResultType]::ParameterName, 'In which memory the data of a process lie')
            [CompletionResult]::new('--chains', '--chains', [CompletionResultType]::ParameterName, 'Chains at different temperatures, which swap them (Metropolis coupling)')
            [CompletionResult]::new('--rows', '--rows', [CompletionResultType]::ParameterName, 'Rows of host processes, which share the chains; must divide m')
            [CompletionResult]::new('--heating', '--heating', [CompletionResultType]::ParameterName, 'Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...')
            [CompletionResult]::new('--swap-every', '--swap-every', [CompletionResultType]::ParameterName, 'Generations between two attempts to swap')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'How rates vary over sites, under GTR with empirical frequencies')
            [CompletionResult]::new('--inferences', '--inferences', [CompletionResultType]::ParameterName, 'Searches from different starts [default: 1 for emulate, else 0]')
            [CompletionResult]::new('--bootstraps', '--bootstraps', [CompletionResultType]::ParameterName, 'Searches on resampled columns [default: 3 for emulate, else 16]')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'How the functions of RAxML run')
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'Where a search begins: parsimony, random, or a tree (Newick), as --tree has it')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'How much is searched')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no summary')
            [CompletionResult]::new('--original-acceptance', '--original-acceptance', [CompletionResultType]::ParameterName, 'Accept by the likelihood alone, as the original PBPI does; what this samples is not the posterior')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;plot' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Picture to write: .svg or .png')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Which picture')
            [CompletionResult]::new('--title', '--title', [CompletionResultType]::ParameterName, 'Title above the picture')
            [CompletionResult]::new('--study', '--study', [CompletionResultType]::ParameterName, 'Folder of a study: every file below that is not given is looked for there')
            [CompletionResult]::new('--validation', '--validation', [CompletionResultType]::ParameterName, 'validation.csv, as study and validate write it')
            [CompletionResult]::new('--predictions', '--predictions', [CompletionResultType]::ParameterName, 'predictions.csv, for a heat map and for intervals')
            [CompletionResult]::new('--params', '--params', [CompletionResultType]::ParameterName, 'Parameters, for the terms and for what was fitted: a TOML file or a published set')
            [CompletionResult]::new('--split', '--split', [CompletionResultType]::ParameterName, 'split.csv, where the time of each run went')
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Trace of a run, as emulate --trace writes it')
            [CompletionResult]::new('--alpha', '--alpha', [CompletionResultType]::ParameterName, 'alpha.csv')
            [CompletionResult]::new('--offload', '--offload', [CompletionResultType]::ParameterName, 'offload.csv')
            [CompletionResult]::new('--context-switch', '--context-switch', [CompletionResultType]::ParameterName, 'context_switch.csv')
            [CompletionResult]::new('--collective', '--collective', [CompletionResultType]::ParameterName, 'collective.csv')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'memory.csv')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Begin of the part of a run that is shown [s]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'End of the part of a run that is shown [s]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;report' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; without it, standard output, unless that is a terminal')
            [CompletionResult]::new('--title', '--title', [CompletionResultType]::ParameterName, 'Title of the page [default: the name of the parameters]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'mmgp;export' {
            [CompletionResult]::new('--params', '--params', [CompletionResultType]::ParameterName, 'Parameters: a TOML or JSON file or a published set (pbpi-qs20, raxml-qs20)')
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'Timed runs: a CSV file, or one of Extra-P (text, JSON, JSON Lines) or hyperfine (JSON)')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Format. Parameters: json, csv, c-header, rust, python, markdown, latex, starpu, simgrid, loggopsim; runs: extra-p, extra-p-json, extra-p-jsonl')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; without it, standard output')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'mmgp;check-machine' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the files; without it, none is written')
            [CompletionResult]::new('--fail-above', '--fail-above', [CompletionResultType]::ParameterName, 'Fail where the error of an independent figure is above this [%]')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads of this computer to use; without it, all')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;likelihood' {
            [CompletionResult]::new('--alignment', '--alignment', [CompletionResultType]::ParameterName, 'Alignment: a PHYLIP or FASTA file, or a built-in one (sim12, sim24, sim42, sim107)')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Tree with branch lengths (Newick); nothing is optimised')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model of substitution, as below')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--per-site', '--per-site', [CompletionResultType]::ParameterName, 'One row for each site, too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;simulate-alignment' {
            [CompletionResult]::new('--taxa', '--taxa', [CompletionResultType]::ParameterName, 'Taxa of a random tree')
            [CompletionResult]::new('--sites', '--sites', [CompletionResultType]::ParameterName, 'Columns of the alignment')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of all random numbers')
            [CompletionResult]::new('--mean-branch', '--mean-branch', [CompletionResultType]::ParameterName, 'Mean length of the branches of a random tree [expected substitutions per site]')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Tree to simulate along (Newick), instead of a random one')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Alignment to write (relaxed PHYLIP); without it, standard output')
            [CompletionResult]::new('--tree-out', '--tree-out', [CompletionResultType]::ParameterName, 'File for the tree (Newick)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'mmgp;spu-timing' {
            [CompletionResult]::new('--iterations', '--iterations', [CompletionResultType]::ParameterName, 'Times to run the loop that the last instruction closes; without it, a straight line')
            [CompletionResult]::new('--machine', '--machine', [CompletionResultType]::ParameterName, 'Machine: a built-in name (qs20, qs22, ps3) or a TOML file')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; without it, standard output')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'mmgp;man' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for mmgp.1 and a page for each command: mmgp-study.1...; without it, mmgp.1 goes to standard output')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'mmgp;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'mmgp;help' {
            [CompletionResult]::new('study', 'study', [CompletionResultType]::ParameterValue, 'Do everything once: measure, fit, predict, emulate every (m, p), compare, draw')
            [CompletionResult]::new('bench', 'bench', [CompletionResultType]::ParameterValue, 'Run the micro-benchmarks on a machine and write their CSV files')
            [CompletionResult]::new('profile', 'profile', [CompletionResultType]::ParameterValue, 'Profile a sequential run (m = p = 1) of a program')
            [CompletionResult]::new('fit', 'fit', [CompletionResultType]::ParameterValue, 'Estimate the parameters of the model from measured tables')
            [CompletionResult]::new('predict', 'predict', [CompletionResultType]::ParameterValue, 'Rank every feasible configuration (m, p), predict one, or weigh the choice')
            [CompletionResult]::new('emulate', 'emulate', [CompletionResultType]::ParameterValue, 'Run a program once on the emulated machine')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Run every feasible (m, p) on the emulated machine, beside the prediction')
            [CompletionResult]::new('plot', 'plot', [CompletionResultType]::ParameterValue, 'Draw what was found: modelled against measured times, and more')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Make a page of a study: one HTML file with answer, pictures, tables and what-if')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Hand parameters or timed runs over to other tools')
            [CompletionResult]::new('check-machine', 'check-machine', [CompletionResultType]::ParameterValue, 'Hold the emulated machine against what has been published about the real one')
            [CompletionResult]::new('likelihood', 'likelihood', [CompletionResultType]::ParameterValue, 'Log-likelihood of a tree, through RAxML''s SPU kernels')
            [CompletionResult]::new('simulate-alignment', 'simulate-alignment', [CompletionResultType]::ParameterValue, 'Simulate an alignment along a tree, under JC69')
            [CompletionResult]::new('spu-timing', 'spu-timing', [CompletionResultType]::ParameterValue, 'Time an SPU assembly listing: when each instruction issues, and why not before')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write one for each command')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print what makes a shell complete commands and flags')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'mmgp;help;study' {
            break
        }
        'mmgp;help;bench' {
            break
        }
        'mmgp;help;profile' {
            break
        }
        'mmgp;help;fit' {
            break
        }
        'mmgp;help;predict' {
            break
        }
        'mmgp;help;emulate' {
            break
        }
        'mmgp;help;validate' {
            break
        }
        'mmgp;help;plot' {
            break
        }
        'mmgp;help;report' {
            break
        }
        'mmgp;help;export' {
            break
        }
        'mmgp;help;check-machine' {
            break
        }
        'mmgp;help;likelihood' {
            break
        }
        'mmgp;help;simulate-alignment' {
            break
        }
        'mmgp;help;spu-timing' {
            break
        }
        'mmgp;help;man' {
            break
        }
        'mmgp;help;completions' {
            break
        }
        'mmgp;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
