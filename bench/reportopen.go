//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"filewise/internal/chromium"
	"filewise/internal/sample"
	"filewise/report"
)

// What a report of 5,000 trials may take: to be opened, and of space.
const (
	maxOpenMillis  = 2000
	maxReportBytes = 3_000_000
)

// emptyPage is what is opened beside the report.
const emptyPage = "<!doctype html><meta charset=utf-8><title>empty</title><p>empty"

// shown is the time from the start of a navigation until what it leads to has been
// laid out and painted, in milliseconds.
const shown = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))`

// runReportOpen is the command report-open: how long a browser takes to show a
// report of many trials, beside an empty page.
func runReportOpen(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("bench report-open", flag.ContinueOnError)
	rounds := flags.Int("rounds", 15, "`times` that both pages are opened")
	trials := flags.Int("trials", 5000, "`trials` of the made-up run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *trials < 100 || flags.NArg() > 0 {
		return fmt.Errorf("at least 1 round, 100 trials and no further arguments, not %d, %d and %q", *rounds, *trials, flags.Args())
	}
	path, err := chromium.Find()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "filewise-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	page, err := bulkReport(*trials)
	if err != nil {
		return err
	}
	urls := make([]string, 2)
	for i, text := range [][]byte{page, []byte(emptyPage)} {
		file := filepath.Join(dir, fmt.Sprintf("page%d.html", i))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		urls[i] = (&url.URL{Scheme: "file", Path: file}).String()
	}
	took, err := openedInTurn(ctx, path, filepath.Join(dir, "profile"), urls, *rounds)
	if err != nil {
		return err
	}
	ratios := make([]float64, *rounds)
	for i := range ratios {
		ratios[i] = took[0][i] / took[1][i]
	}
	return print(stdout, []row{
		{fmt.Sprintf("size of the report of %d trials", *trials), fmt.Sprintf("%.2f MB", float64(len(page))/1e6), "< 3 MB", len(page) < maxReportBytes},
		{"until it is shown", spreadOf("%.0f", took[0]) + " ms", "< 2,000 ms", middle(took[0]) < maxOpenMillis},
		{what: "until an empty page is shown", value: spreadOf("%.0f", took[1]) + " ms"},
		{what: "ratio within a round", value: spreadOf("%.1f", ratios)},
	})
}

func bulkReport(trials int) ([]byte, error) {
	d, err := sample.Bulk(trials)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := report.HTML(&b, d); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// openedInTurn opens pages in one browser, in every round each once, in turn the
// one and the other first; by page and round. A first round, in which the browser
// itself warms up, does not count.
func openedInTurn(ctx context.Context, browser, profile string, urls []string, rounds int) ([][]float64, error) {
	ctx, cancel := chromedp.NewExecAllocator(ctx, chromium.Options(browser, profile)...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	took := make([][]float64, len(urls))
	for round := range rounds + 1 {
		for k := range urls {
			i := (k + round) % len(urls)
			if _, err := chromedp.Run(ctx, chromedp.Navigate(urls[i])); err != nil {
				return nil, fmt.Errorf("open %s: %w", urls[i], err)
			}
			millis, err := chromedp.Run(ctx, chromedp.Evaluate[float64](shown, chromedp.EvalAwaitPromise))
			if err != nil {
				return nil, fmt.Errorf("wait until %s is painted: %w", urls[i], err)
			}
			if round > 0 {
				took[i] = append(took[i], millis)
			}
		}
	}
	return took, nil
}
