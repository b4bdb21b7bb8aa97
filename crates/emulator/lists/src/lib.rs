//! Linked lists in one array, and what list ranking asks of them: the input of the emulated and of
//! the native program, so that both work on the same lists.
//!
//! A [`List`] is made ([`List::generate`]) or read from a file ([`List::read`]). Its *prefixes* are
//! those of an associative [`Operation`]: the head has its own value, every other node the prefix of
//! its predecessor combined with its own value. With all values 1 and sums they are the *ranks*, 1 at
//! the head. [`rank_sequentially`] is the program that parallel ones are checked against, and
//! [`choose_heads`] the first step of the sublist algorithm (Helman and JaJa; Bader, Agarwal and
//! Madduri, IPDPS 2007): it says where sublists begin.
//!
//! ```
//! use mmgp_lists::{List, Operation, Order, Values, choose_heads, rank_sequentially};
//!
//! let list = List::generate(1000, Order::Random, Values::Ones, 7)?;
//! let ranks = rank_sequentially(&list, Operation::Sum);
//! assert_eq!(ranks[list.head() as usize], 1);
//! let heads = choose_heads(&list, 16, Order::Random, 7);
//! assert_eq!((heads.len(), heads[0]), (16, list.head()));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod draw;
mod list;
mod ranking;

pub use list::{END, List, Order, Values};
pub use ranking::{Operation, checksum, choose_heads, imbalance, part, rank_sequentially};
