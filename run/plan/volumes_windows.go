package plan

const dirExample = `D:\data`
