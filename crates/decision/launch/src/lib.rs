//! Text for those who start runs in our place: Slurm ([`slurm`]), a plain script, GNU parallel and
//! HyperQueue ([`emit`]), and what they say came of the runs ([`results`]).
//!
//! Read on at [`emit`], which writes what others start.
//!
//! Nothing is written or started here.
//!
//! ```
//! use mmgp_base::{Mapping, attempt::Order, table::Source};
//! use mmgp_launch::{Run, emit, results};
//!
//! let order = Order {
//!     id: 7,
//!     nodes: 1,
//!     factors: [].into(),
//!     repetition: 1,
//!     limit: None,
//! };
//! let mapping = Mapping::of(4, 2);
//! let argv = ["mpirun", "-n", "4", "./app"].map(String::from).to_vec();
//! let env = [("OMP_NUM_THREADS".to_string(), "2".to_string())].into();
//! let script = emit::script(&[Run { mapping, order, argv, env, dir: None }], "results.csv");
//! assert!(script.ends_with("OMP_NUM_THREADS=2 mpirun -n 4 ./app\n"));
//!
//! // Somebody runs it, and then there is:
//! let text = "id,m,p,nodes,repetition,time_s,exit\n7,4,2,1,1,11.703001,0\n";
//! let told = results::read(&Source::new("results.csv", text), &Default::default())?;
//! assert_eq!(told[0].id, Some(7));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

pub mod emit;
pub mod results;
pub mod slurm;

pub use emit::{Run, command_line, quoted};
