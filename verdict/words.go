package verdict

// WordsOptions is what the phrases need beside the result.
type WordsOptions struct {
	BlockSeconds float64 // mean duration of a block; 0 = unknown
}

// Sentences phrases the verdict: first what to do, then each arm, then what
// limits it.
func Sentences(r Result, opts WordsOptions) []string { return nil }
