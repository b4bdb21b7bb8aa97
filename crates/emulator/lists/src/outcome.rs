//! What both programs say of a list that has been ranked.

/// Of all prefixes, in the order of the nodes: FNV-1a over their words.
pub fn checksum(prefixes: &[u32]) -> u32 {
    let step = |hash: u32, &word: &u32| (hash ^ word).wrapping_mul(16_777_619);
    prefixes.iter().fold(2_166_136_261, step)
}

/// The most nodes that anybody ranked over the mean; 1 where all ranked as many, or nobody any.
pub fn imbalance(loads: &[u64]) -> f64 {
    let most = loads.iter().max().copied().unwrap_or(0) as f64;
    let mean = loads.iter().sum::<u64>() as f64 / loads.len().max(1) as f64;
    if mean > 0.0 { most / mean } else { 1.0 }
}
