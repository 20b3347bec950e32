-- Workload orders on SQL Server: five transactions derived from the TPC-C
-- specification, each one call of a procedure that is one transaction. Amounts are
-- whole cents. Sections are executed on connections that have logged in to the
-- build's database; .IndexPlace is the filegroup of nonclustered indexes.
-- A statement is a procedure's name alone, which the driver calls with the arguments
-- in their order: as parameters of a statement, texts would be declared by their
-- length, and each length would want a plan of its own.

-- name: tables
{{- range orders}}
CREATE TABLE dbo.{{.Name}} (
{{.Columns}}{{if .Key}},
  CONSTRAINT {{.Name}}_key PRIMARY KEY CLUSTERED ({{.Key}}){{end}}
) ON [PRIMARY];
{{- end}}

-- name: indexes
CREATE INDEX customer_name ON dbo.customer (c_w_id, c_d_id, c_last, c_first) ON {{ident .IndexPlace}};
CREATE UNIQUE INDEX orders_customer ON dbo.orders (o_w_id, o_d_id, o_c_id, o_id) ON {{ident .IndexPlace}};
{{- range .Loaded}}
UPDATE STATISTICS dbo.{{ident .}};
{{- end}}

-- name: procedure-new-order whole
-- Clause 2.4.2. Lines come as lists, which are taken apart item by item: a table
-- variable would be work for the temporary database. The order itself is written after its lines,
-- when their number is known.
CREATE PROCEDURE dbo.fw_new_order @w int, @d int, @c int, @at int, @items varchar(400), @supplies varchar(400), @quantities varchar(400)
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @discount int, @last varchar(16), @credit char(2), @w_tax int, @d_tax int;
  DECLARE @o int, @n int = 0, @local int = 1, @total bigint = 0, @cut int;
  DECLARE @item int, @supply int, @quantity int, @price int, @name varchar(24), @data varchar(50), @dist char(24);
  SET @items += ',';
  SET @supplies += ',';
  SET @quantities += ',';
  BEGIN TRANSACTION;
  SELECT @discount = c_discount, @last = c_last, @credit = c_credit FROM dbo.customer WHERE c_w_id = @w AND c_d_id = @d AND c_id = @c;
  SELECT @w_tax = w_tax FROM dbo.warehouse WHERE w_id = @w;
  -- A variable is given the value that the column had before (UPDATE, Remarks).
  UPDATE dbo.district SET @o = d_next_o_id, @d_tax = d_tax, d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @w AND d_id = @d;
  IF @discount IS NULL OR @w_tax IS NULL OR @o IS NULL
  BEGIN;
    THROW 50010, N'there is no such customer, warehouse or district', 1;
  END;
  WHILE @items <> ''
  BEGIN
    SET @cut = CHARINDEX(',', @items);
    SET @item = CAST(LEFT(@items, @cut - 1) AS int);
    SET @items = SUBSTRING(@items, @cut + 1, 400);
    SET @cut = CHARINDEX(',', @supplies);
    SET @supply = CAST(LEFT(@supplies, @cut - 1) AS int);
    SET @supplies = SUBSTRING(@supplies, @cut + 1, 400);
    SET @cut = CHARINDEX(',', @quantities);
    SET @quantity = CAST(LEFT(@quantities, @cut - 1) AS int);
    SET @quantities = SUBSTRING(@quantities, @cut + 1, 400);
    SET @n += 1;
    IF @supply <> @w SET @local = 0;
    SET @price = NULL;
    SELECT @price = i_price, @name = i_name, @data = i_data FROM dbo.item WHERE i_id = @item;
    IF @price IS NULL
    BEGIN
      ROLLBACK TRANSACTION;
      SELECT CAST(-1 AS int) AS number, CAST(0 AS bigint) AS total;
      RETURN;
    END;
    UPDATE dbo.stock SET
      @dist = CASE @d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
        WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
      s_quantity = s_quantity - @quantity + CASE WHEN s_quantity >= @quantity + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + @quantity,
      s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + CASE WHEN @supply <> @w THEN 1 ELSE 0 END
    WHERE s_w_id = @supply AND s_i_id = @item;
    IF @@ROWCOUNT <> 1
    BEGIN;
      THROW 50010, N'there is no such stock', 1;
    END;
    SET @total += @price * @quantity;
    INSERT INTO dbo.order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    VALUES (@w, @d, @o, @n, @item, @supply, NULL, @quantity, @price * @quantity, @dist);
  END;
  INSERT INTO dbo.orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
  VALUES (@w, @d, @o, @c, @at, NULL, @n, @local);
  INSERT INTO dbo.new_order (no_w_id, no_d_id, no_o_id) VALUES (@w, @d, @o);
  COMMIT TRANSACTION;
  SELECT @o AS number, @total * (10000 - @discount) / 10000 * (10000 + @w_tax + @d_tax) / 10000 AS total;
END;

-- name: procedure-payment whole
-- Clause 2.5.2. Of the customers of a name it is the one in the middle, by first
-- name, rounded up.
CREATE PROCEDURE dbo.fw_payment @w int, @d int, @c_w int, @c_d int, @c int, @last varchar(16), @amount bigint, @at int
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @w_name varchar(10), @d_name varchar(10), @n int, @first varchar(16), @balance bigint, @credit char(2);
  BEGIN TRANSACTION;
  UPDATE dbo.warehouse SET @w_name = w_name, w_ytd = w_ytd + @amount WHERE w_id = @w;
  UPDATE dbo.district SET @d_name = d_name, d_ytd = d_ytd + @amount WHERE d_w_id = @w AND d_id = @d;
  IF @c = 0
  BEGIN
    SELECT @n = COUNT(*) FROM dbo.customer WHERE c_w_id = @c_w AND c_d_id = @c_d AND c_last = @last;
    SELECT @c = c_id FROM dbo.customer WHERE c_w_id = @c_w AND c_d_id = @c_d AND c_last = @last
    ORDER BY c_first, c_id OFFSET (@n - 1) / 2 ROWS FETCH NEXT 1 ROWS ONLY;
  END;
  UPDATE dbo.customer SET
    @first = c_first, @credit = c_credit, @balance = c_balance - @amount,
    c_balance = c_balance - @amount, c_ytd_payment = c_ytd_payment + @amount, c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE c_credit WHEN 'BC' THEN LEFT(CONCAT(c_id, ' ', c_d_id, ' ', c_w_id, ' ', @d, ' ', @w, ' ', @amount, ' ', c_data), 500) ELSE c_data END
  WHERE c_w_id = @c_w AND c_d_id = @c_d AND c_id = @c;
  IF @@ROWCOUNT <> 1 OR @w_name IS NULL OR @d_name IS NULL
  BEGIN;
    THROW 50010, N'there is no such customer, warehouse or district', 1;
  END;
  INSERT INTO dbo.history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  VALUES (@c, @c_d, @c_w, @d, @w, @at, @amount, CONCAT(@w_name, '    ', @d_name));
  COMMIT TRANSACTION;
  SELECT @c AS customer;
END;

-- name: procedure-order-status whole
-- Clause 2.6.2.
CREATE PROCEDURE dbo.fw_order_status @w int, @d int, @c int, @last varchar(16)
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @n int, @balance bigint, @first varchar(16), @o int, @entered int, @carrier int, @lines int = 0;
  BEGIN TRANSACTION;
  IF @c = 0
  BEGIN
    SELECT @n = COUNT(*) FROM dbo.customer WHERE c_w_id = @w AND c_d_id = @d AND c_last = @last;
    SELECT @c = c_id FROM dbo.customer WHERE c_w_id = @w AND c_d_id = @d AND c_last = @last
    ORDER BY c_first, c_id OFFSET (@n - 1) / 2 ROWS FETCH NEXT 1 ROWS ONLY;
  END;
  SELECT @balance = c_balance, @first = c_first FROM dbo.customer WHERE c_w_id = @w AND c_d_id = @d AND c_id = @c;
  IF @balance IS NULL
  BEGIN;
    THROW 50010, N'there is no such customer', 1;
  END;
  SELECT TOP (1) @o = o_id, @entered = o_entry_d, @carrier = o_carrier_id FROM dbo.orders
  WHERE o_w_id = @w AND o_d_id = @d AND o_c_id = @c ORDER BY o_id DESC;
  IF @o IS NOT NULL
    SELECT @lines = COUNT(ol_quantity + ol_supply_w_id + ol_amount + ISNULL(ol_delivery_d, 0) + ol_i_id) FROM dbo.order_line
    WHERE ol_w_id = @w AND ol_d_id = @d AND ol_o_id = @o;
  COMMIT TRANSACTION;
  SELECT @balance AS balance, ISNULL(@o, 0) AS number, @lines AS lines;
END;

-- name: procedure-delivery whole
-- Clause 2.7.4, of all districts of the warehouse. Two deliveries at the same time
-- take different orders: the second one waits for the first one's lock.
CREATE PROCEDURE dbo.fw_delivery @w int, @carrier int, @at int
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @d int = 1, @o int, @c int, @sum bigint, @delivered int = 0;
  BEGIN TRANSACTION;
  WHILE @d <= {{.Districts}}
  BEGIN
    SET @o = NULL;
    SELECT TOP (1) @o = no_o_id FROM dbo.new_order WITH (UPDLOCK, ROWLOCK) WHERE no_w_id = @w AND no_d_id = @d ORDER BY no_o_id;
    IF @o IS NOT NULL
    BEGIN
      DELETE FROM dbo.new_order WHERE no_w_id = @w AND no_d_id = @d AND no_o_id = @o;
      UPDATE dbo.orders SET @c = o_c_id, o_carrier_id = @carrier WHERE o_w_id = @w AND o_d_id = @d AND o_id = @o;
      UPDATE dbo.order_line SET ol_delivery_d = @at WHERE ol_w_id = @w AND ol_d_id = @d AND ol_o_id = @o;
      SELECT @sum = SUM(ol_amount) FROM dbo.order_line WHERE ol_w_id = @w AND ol_d_id = @d AND ol_o_id = @o;
      UPDATE dbo.customer SET c_balance = c_balance + @sum, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = @w AND c_d_id = @d AND c_id = @c;
      IF @@ROWCOUNT <> 1
      BEGIN;
        THROW 50010, N'there is no such customer', 1;
      END;
      SET @delivered += 1;
    END;
    SET @d += 1;
  END;
  COMMIT TRANSACTION;
  SELECT @delivered AS delivered;
END;

-- name: procedure-stock-level whole
-- Clause 2.8.2.
CREATE PROCEDURE dbo.fw_stock_level @w int, @d int, @threshold int
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @next int, @low int;
  BEGIN TRANSACTION;
  SELECT @next = d_next_o_id FROM dbo.district WHERE d_w_id = @w AND d_id = @d;
  SELECT @low = COUNT(DISTINCT s_i_id) FROM dbo.order_line
  JOIN dbo.stock ON s_w_id = @w AND s_i_id = ol_i_id AND s_quantity < @threshold
  WHERE ol_w_id = @w AND ol_d_id = @d AND ol_o_id >= @next - 20 AND ol_o_id < @next;
  COMMIT TRANSACTION;
  SELECT @low AS items;
END;

-- name: statement-new-order
dbo.fw_new_order;

-- name: statement-payment
dbo.fw_payment;

-- name: statement-order-status
dbo.fw_order_status;

-- name: statement-delivery
dbo.fw_delivery;

-- name: statement-stock-level
dbo.fw_stock_level;

-- name: churn whole
-- A table that is created and dropped before each transaction: each statement commits by
-- itself. Number is unique in the build.
CREATE TABLE dbo.{{ident (print "fw_churn_" .Number)}} (content char(1000) COLLATE Latin1_General_BIN2 NOT NULL) ON [PRIMARY];
INSERT INTO dbo.{{ident (print "fw_churn_" .Number)}} (content) VALUES ('x');
DROP TABLE dbo.{{ident (print "fw_churn_" .Number)}};
