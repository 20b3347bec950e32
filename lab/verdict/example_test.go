package verdict_test

import (
	"fmt"

	"filewise/lab/verdict"
)

func ExampleJudge() {
	arms := []verdict.Arm{{Name: "1 file", Rank: 1}, {Name: "4 files", Rank: 4}}
	var table verdict.Table
	for _, block := range [][2]float64{{4012, 4720}, {3950, 4655}, {4101, 4790},
		{3987, 4702}, {4055, 4748}, {4020, 4733}, {3968, 4671}} {
		table = append(table, []verdict.Cell{
			{Throughput: block[0], OK: true},
			{Throughput: block[1], OK: true},
		})
	}
	result, err := verdict.Judge(verdict.DefaultConfig(), arms, table)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sentence := range verdict.Sentences(result, verdict.WordsOptions{}) {
		fmt.Println(sentence)
	}
	// Output:
	// Use 4 files: +17.5 % over 1 file (95 % interval +16.8 to +18.1 %).
	// 4 files: +17.5 % over 1 file (95 % interval +16.8 to +18.1 %; 7 blocks, 14 trials).
}
