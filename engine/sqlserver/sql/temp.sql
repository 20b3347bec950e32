-- Workload temp on SQL Server: the files of tempdb as they are. A cycle creates a
-- temporary table, fills it, sorts it into a second one, joins both and drops them,
-- in one transaction; the rows follow from the formula in package workload.

-- name: tables
CREATE TABLE dbo.fw_sums (worker bigint NOT NULL, last bigint NOT NULL, cycles bigint NOT NULL, total bigint NOT NULL,
  CONSTRAINT fw_sums_key PRIMARY KEY CLUSTERED (worker)) ON [PRIMARY];
CREATE TABLE dbo.fw_numbers (n bigint NOT NULL, CONSTRAINT fw_numbers_key PRIMARY KEY CLUSTERED (n)) ON [PRIMARY];
WITH d AS (SELECT v.n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n))
INSERT INTO dbo.fw_numbers (n) SELECT TOP ({{.Rows}}) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) - 1
FROM d AS a CROSS JOIN d AS b CROSS JOIN d AS c CROSS JOIN d AS e CROSS JOIN d AS f CROSS JOIN d AS g CROSS JOIN d AS h;
WITH d AS (SELECT v.n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n))
INSERT INTO dbo.fw_sums (worker, last, cycles, total) SELECT TOP ({{.Connections}}) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) - 1, 0, 0, 0
FROM d AS a CROSS JOIN d AS b CROSS JOIN d AS c CROSS JOIN d AS e;

-- name: procedure-cycle whole
CREATE PROCEDURE dbo.fw_cycle @worker bigint, @first bigint, @amount bigint
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @i bigint = @first;
  DECLARE @end bigint = @first + @amount;
  DECLARE @from bigint;
  DECLARE @n bigint;
  DECLARE @s bigint;
  WHILE @i < @end
  BEGIN
    SET @from = (@i * {{.Connections}} + @worker) % {{.Modulus}} * {{.Rows}};
    BEGIN TRANSACTION;
    CREATE TABLE #fw_filled (id bigint NOT NULL, x bigint NOT NULL, payload varchar({{.RowBytes}}) COLLATE Latin1_General_BIN2 NOT NULL);
    INSERT INTO #fw_filled (id, x, payload)
    SELECT m.n, m.x, LEFT(REPLICATE(LOWER(CONVERT(varchar(32), HASHBYTES('MD5', CAST(m.x AS varchar(20))), 2)), {{.RowBytes}} / 32 + 1), {{.RowBytes}})
    FROM (SELECT n, ((@from + n) % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}} AS x FROM dbo.fw_numbers) AS m;
{{- if ne .Cycle "fill"}}
    CREATE TABLE #fw_sorted (id bigint NOT NULL, x bigint NOT NULL, payload varchar({{.RowBytes}}) COLLATE Latin1_General_BIN2 NOT NULL);
    INSERT INTO #fw_sorted (id, x, payload) SELECT id, x, payload FROM #fw_filled ORDER BY x, id;
{{- end}}
{{- if eq .Cycle "join"}}
    SELECT @n = COUNT_BIG(*), @s = SUM(b.x) FROM #fw_filled AS a JOIN #fw_sorted AS b ON b.id = a.id AND b.payload = a.payload;
{{- else if eq .Cycle "sort"}}
    SELECT @n = COUNT_BIG(*), @s = SUM(x) FROM #fw_sorted WHERE DATALENGTH(payload) = {{.RowBytes}};
{{- else}}
    SELECT @n = COUNT_BIG(*), @s = SUM(x) FROM #fw_filled WHERE DATALENGTH(payload) = {{.RowBytes}};
{{- end}}
    IF @n <> {{.Rows}}
    BEGIN;
      THROW 50011, N'a temporary table has not the rows that it was filled with', 1;
    END;
{{- if ne .Cycle "fill"}}
    DROP TABLE #fw_sorted;
{{- end}}
    DROP TABLE #fw_filled;
    UPDATE dbo.fw_sums SET last = @i * {{.Connections}} + @worker + 1, cycles += 1, total = (total + @s) % {{.Modulus}} WHERE worker = @worker;
    COMMIT TRANSACTION;
    SET @i += 1;
  END;
END;

-- name: call-cycle
EXEC dbo.fw_cycle @worker = @p1, @first = @p2, @amount = @p3;

-- name: committed-cycle
SELECT COUNT_BIG(*) AS found FROM dbo.fw_sums WHERE worker = (@p1 - 1) % {{.Connections}} AND last >= @p1;

-- name: check
SELECT worker, cycles, total FROM dbo.fw_sums ORDER BY worker;
