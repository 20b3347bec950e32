// This file bounds the memory that a foreign histogram of latencies takes: some hundred bytes may claim millions of
// counts.

package store

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

// The most that Filewise's histograms hold: latencies of a week, in µs, with three digits.
const (
	mostDigits = 3
	highest    = 1 << 40
)

// errHistogramTooLarge reports that a histogram has a wider range than Filewise writes.
var errHistogramTooLarge = errors.New("its histogram of latencies is larger than what Filewise writes")

// inflaters keeps readers of zlib: one takes 40 kB, and a run has a histogram for each of its trials.
var inflaters sync.Pool

func newInflater(from io.Reader) (io.ReadCloser, error) {
	if r, ok := inflaters.Get().(io.ReadCloser); ok {
		return r, r.(zlib.Resetter).Reset(from, nil)
	}
	return zlib.NewReader(from)
}

// checkHistogramSize checks the head of a histogram in HdrHistogram's compressed encoding, version 2. It accepts
// anything that is not a histogram, since reading that fails later.
func checkHistogramSize(encoded []byte) error {
	text := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(encoded))
	var head struct {
		Cookie, Length, Offset, Digits int32
		Lowest, Highest                int64
	}
	if _, err := io.CopyN(io.Discard, text, 8); err != nil {
		return nil //nolint:nilerr // not a histogram
	}
	inner, err := newInflater(text)
	if err != nil {
		return nil //nolint:nilerr // not a histogram
	}
	defer inflaters.Put(inner)
	if err := binary.Read(inner, binary.BigEndian, &head); err != nil {
		return nil //nolint:nilerr // not a histogram
	}
	if head.Digits > mostDigits || head.Highest > highest {
		return errHistogramTooLarge
	}
	return nil
}
