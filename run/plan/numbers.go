package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// PerCore stands for the server's number of cores in a list of numbers of files. On the command line it is "cores".
const (
	PerCore   = math.MinInt
	coresWord = "cores"
)

// ParseNumber reads one number of an option. "cores" is PerCore.
func ParseNumber(text string) (int, error) {
	if text = strings.TrimSpace(text); text == coresWord {
		return PerCore, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	return n, nil
}

// Numbers is a flag for numbers that commas separate.
type Numbers struct {
	To    *[]int
	Cores bool // PerCore is allowed
	given bool
}

// Set implements pflag.Value.
func (n *Numbers) Set(text string) error {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		x, err := ParseNumber(part)
		if err == nil && x == PerCore && !n.Cores {
			err = fmt.Errorf("%q is no whole number", part)
		}
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	if n.given { // the flag is repeated
		all = append(*n.To, all...)
	}
	*n.To, n.given = all, true
	return nil
}

// String implements pflag.Value.
func (n *Numbers) String() string { return "" }

// Type implements pflag.Value.
func (n *Numbers) Type() string { return "intSlice" }
