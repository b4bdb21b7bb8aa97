//! Lists of processors as Linux writes them: `0-3,8`.

/// A list of ascending numbers.
pub(crate) fn written(processors: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &processor in processors {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == processor => *last = processor,
            _ => ranges.push((processor, processor)),
        }
    }
    let range = |(first, last): (usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    ranges.into_iter().map(range).collect::<Vec<_>>().join(",")
}

/// The numbers in a list; what is none is passed over.
pub(crate) fn read(list: &str) -> Vec<usize> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        for list in ["", "0", "0-3", "0,2,4", "0-1,8,64-127"] {
            assert_eq!(written(&read(list)), list);
        }
        assert_eq!(read("0-2,8\n"), [0, 1, 2, 8]);
    }
}
