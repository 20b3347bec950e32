// Package filewise holds the words of Filewise as types: engine, target,
// volume, layout, workload, trial and measure, the interfaces that adapters
// implement, and the errors that every layer shares. It has no third-party
// imports. docs/terminology.md defines the words for readers.
package filewise
