//! Whether successors make one list through all nodes, and if not, which node is to blame.

use super::END;

/// Why successors are not one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// A node leads to one that is not there.
    OutOfRange { node: u32 },
    /// A node leads to one that an earlier node leads to.
    Shared { node: u32, earlier: u32 },
    /// Every node leads to another; this one leads back to node `to`.
    NoEnd { node: u32, to: u32 },
    /// Like an earlier node, this one is nobody's successor.
    SecondHead { node: u32, earlier: u32 },
    /// This node leads back to `to`, which the head does not lead to.
    Cycle { node: u32, to: u32 },
}

impl Flaw {
    /// The node to blame.
    pub fn node(self) -> u32 {
        match self {
            Self::OutOfRange { node }
            | Self::Shared { node, .. }
            | Self::NoEnd { node, .. }
            | Self::SecondHead { node, .. }
            | Self::Cycle { node, .. } => node,
        }
    }
}

/// The head of the one list that they make.
pub fn head_of(successors: &[u32]) -> Result<u32, Flaw> {
    let mut predecessors = vec![END; successors.len()];
    for (node, &successor) in (0..).zip(successors).filter(|(_, successor)| **successor != END) {
        let Some(predecessor) = predecessors.get_mut(successor as usize) else {
            return Err(Flaw::OutOfRange { node });
        };
        if *predecessor != END {
            return Err(Flaw::Shared { node, earlier: *predecessor });
        }
        *predecessor = node;
    }
    let mut heads = (0..).zip(&predecessors).filter(|(_, predecessor)| **predecessor == END);
    let Some((head, _)) = heads.next() else {
        return Err(Flaw::NoEnd { node: predecessors[0], to: 0 });
    };
    if let Some((second, _)) = heads.next() {
        return Err(Flaw::SecondHead { node: second, earlier: head });
    }
    // From one head to one end: nothing that follows from the head comes twice, and what does not
    // follow from it goes round.
    let mut node = head;
    while node != END {
        predecessors[node as usize] = END;
        node = successors[node as usize];
    }
    let left = (0..).zip(&predecessors).find(|(_, predecessor)| **predecessor != END);
    match left {
        None => Ok(head),
        Some((to, &node)) => Err(Flaw::Cycle { node, to }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_not_to_be_a_list_is_found_at_its_node() {
        assert_eq!(head_of(&[END]), Ok(0));
        assert_eq!(head_of(&[2, END, 1]), Ok(0));
        assert_eq!(head_of(&[END, 2, 0]), Ok(1));
        assert_eq!(head_of(&[1, 3, END]), Err(Flaw::OutOfRange { node: 1 }));
        assert_eq!(head_of(&[2, 2, END]), Err(Flaw::Shared { node: 1, earlier: 0 }));
        assert_eq!(head_of(&[0]), Err(Flaw::NoEnd { node: 0, to: 0 }));
        assert_eq!(head_of(&[1, 2, 0]), Err(Flaw::NoEnd { node: 2, to: 0 }));
        assert_eq!(head_of(&[1, END, 3, END]), Err(Flaw::SecondHead { node: 2, earlier: 0 }));
        assert_eq!(head_of(&[4, 2, 3, 1, END]), Err(Flaw::Cycle { node: 3, to: 1 }));
    }
}
