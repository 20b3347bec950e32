-- Workload orders on PostgreSQL. Warehouse w lies in data file (w − 1) mod files,
-- with all that is its: every table but item is partitioned by list of warehouses.
-- Each transaction is one call: of a procedure where it may roll back, else of a
-- function. Keys and indexes come after the load.
--
-- A table has leaves: itself, or partitions. .Rest is what follows a table's
-- columns, .Values and .Options are a leaf's bounds and tablespace, .Index and
-- .IndexSpace the tablespace of its indexes, .Key its primary key, .Further its
-- other indexes.

-- name: tables
{{range orders}}
CREATE TABLE {{.Name}} (
{{.Columns}}
){{(index $.Named .Name).Rest}};
{{end}}
{{range .Tables}}
{{- range .Leaves}}
{{- if .Of}}
CREATE TABLE {{ident .Name}} PARTITION OF {{ident .Of}} {{.Values}}{{.Options}};
{{- end}}
{{- end}}
{{- end}}

-- name: indexes
-- Those of partitions first, where each lies is said; the table's then take them over.
{{range .Tables}}{{$t := .}}
{{- range .Leaves}}{{$leaf := .}}
{{- if $t.Key}}
ALTER TABLE {{ident .Name}} ADD PRIMARY KEY ({{$t.Key}}){{.Index}};
{{- end}}
{{- range $t.Further}}
CREATE {{.Kind}} {{ident (print $leaf.Name .Suffix)}} ON {{ident $leaf.Name}} ({{.Columns}}){{$leaf.IndexSpace}};
{{- end}}
{{- end}}
{{- if .Partitioned}}
{{- if .Key}}
ALTER TABLE {{ident .Name}} ADD PRIMARY KEY ({{.Key}});
{{- end}}
{{- range .Further}}
CREATE {{.Kind}} {{ident (print $t.Name .Suffix)}} ON {{ident $t.Name}} ({{.Columns}});
{{- end}}
{{- end}}
{{end}}

-- name: procedure-new-order whole
-- Clause 2.4.2. Lines are worked on in the order of stocks, so that two orders for
-- the same ones wait for each other and do not deadlock.
CREATE PROCEDURE fw_new_order(w integer, d integer, c integer, at integer, items text, supplies text, quantities text, INOUT o integer, INOUT total bigint)
LANGUAGE plpgsql AS $fw$
DECLARE
  line record;
  discount integer;
  last text;
  credit text;
  tax_w integer;
  tax_d integer;
  price integer;
  name text;
  data text;
  dist text;
  brand text;
  missing boolean := false;
BEGIN
  SELECT c_discount, c_last, c_credit INTO STRICT discount, last, credit FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  SELECT w_tax INTO STRICT tax_w FROM warehouse WHERE w_id = w;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
    RETURNING d_next_o_id - 1, d_tax INTO STRICT o, tax_d;
  total := cardinality(string_to_array(items, ','));
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (w, d, o, c, at, NULL, total, CASE WHEN w::text = ALL (string_to_array(supplies, ',')) THEN 1 ELSE 0 END);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (w, d, o);
  total := 0;
  FOR line IN
    SELECT l.item, l.supply, l.quantity, l.number
      FROM unnest(string_to_array(items, ',')::integer[], string_to_array(supplies, ',')::integer[], string_to_array(quantities, ',')::integer[])
           WITH ORDINALITY AS l (item, supply, quantity, number)
     ORDER BY l.supply, l.item, l.number
  LOOP
    SELECT i_price, i_name, i_data INTO price, name, data FROM item WHERE i_id = line.item;
    IF NOT FOUND THEN
      missing := true;
      EXIT;
    END IF;
    UPDATE stock SET
      s_quantity = s_quantity - line.quantity + CASE WHEN s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + line.quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + CASE WHEN line.supply = w THEN 0 ELSE 1 END
    WHERE s_w_id = line.supply AND s_i_id = line.item
    RETURNING CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
      WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END, s_data INTO STRICT dist, brand;
    INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
      VALUES (w, d, o, line.number, line.item, line.supply, NULL, line.quantity, price * line.quantity, dist);
    total := total + price * line.quantity;
  END LOOP;
  IF missing THEN
    ROLLBACK;
    o := -1;
    total := 0;
    RETURN;
  END IF;
  total := total * (10000 - discount) / 10000 * (10000 + tax_w + tax_d) / 10000;
END
$fw$

-- name: procedure-customer-by-name whole
-- The one in the middle, by first name, rounded up (2.5.2.2).
CREATE FUNCTION fw_customer_by_name(w integer, d integer, last text) RETURNS integer LANGUAGE plpgsql AS $fw$
DECLARE
  c integer;
BEGIN
  SELECT c_id INTO STRICT c FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = last ORDER BY c_first LIMIT 1
    OFFSET (SELECT (count(*) - 1) / 2 FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = last);
  RETURN c;
END
$fw$

-- name: procedure-payment whole
-- Clause 2.5.2.
CREATE FUNCTION fw_payment(w integer, d integer, cw integer, cd integer, c integer, last text, amount integer, at integer) RETURNS integer
LANGUAGE plpgsql AS $fw$
DECLARE
  of_warehouse record;
  of_district record;
  of_customer record;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip INTO STRICT of_warehouse;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip INTO STRICT of_district;
  IF c = 0 THEN
    c := fw_customer_by_name(cw, cd, last);
  END IF;
  UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE c_credit WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, d, w, amount, c_data), 500) ELSE c_data END
  WHERE c_w_id = cw AND c_d_id = cd AND c_id = c
  RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance
  INTO STRICT of_customer;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c, cd, cw, d, w, at, amount, of_warehouse.w_name || '    ' || of_district.d_name);
  RETURN c;
END
$fw$

-- name: procedure-order-status whole
-- Clause 2.6.2.
CREATE FUNCTION fw_order_status(w integer, d integer, c integer, last text, OUT balance bigint, OUT o integer, OUT lines bigint)
LANGUAGE plpgsql AS $fw$
DECLARE
  of_customer record;
  of_order record;
  of_lines record;
BEGIN
  IF c = 0 THEN
    c := fw_customer_by_name(w, d, last);
  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO STRICT of_customer FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  balance := of_customer.c_balance;
  SELECT o_id, o_entry_d, o_carrier_id INTO of_order FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
  o := coalesce(of_order.o_id, 0);
  lines := 0;
  FOR of_lines IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o LOOP
    lines := lines + 1;
  END LOOP;
END
$fw$

-- name: procedure-delivery whole
-- Clause 2.7.4. An order that another delivery has taken meanwhile is passed by.
CREATE FUNCTION fw_delivery(w integer, carrier integer, at integer) RETURNS integer LANGUAGE plpgsql AS $fw$
DECLARE
  delivered integer := 0;
  o integer;
  c integer;
  amount bigint;
BEGIN
  FOR d IN 1..{{.Districts}} LOOP
    LOOP
      SELECT no_o_id INTO o FROM new_order WHERE no_w_id = w AND no_d_id = d ORDER BY no_o_id LIMIT 1;
      EXIT WHEN NOT FOUND;
      DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = o;
      EXIT WHEN FOUND;
    END LOOP;
    CONTINUE WHEN o IS NULL;
    UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o RETURNING o_c_id INTO STRICT c;
    UPDATE order_line SET ol_delivery_d = at WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
    SELECT sum(ol_amount) INTO STRICT amount FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
    UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    delivered := delivered + 1;
  END LOOP;
  RETURN delivered;
END
$fw$

-- name: procedure-stock-level whole
-- Clause 2.8.2.
CREATE FUNCTION fw_stock_level(w integer, d integer, threshold integer) RETURNS bigint LANGUAGE plpgsql AS $fw$
DECLARE
  next integer;
  low bigint;
BEGIN
  SELECT d_next_o_id INTO STRICT next FROM district WHERE d_w_id = w AND d_id = d;
  SELECT count(*) INTO low FROM (
    SELECT DISTINCT ol_i_id FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= next - 20 AND ol_o_id < next) AS sold
  JOIN stock ON s_w_id = w AND s_i_id = ol_i_id WHERE s_quantity < threshold;
  RETURN low;
END
$fw$

-- name: procedure-churn whole
-- A table that comes and goes, by three transactions in one call; in the tablespace
-- of a data file, one after the other.
CREATE PROCEDURE fw_churn(number bigint) LANGUAGE plpgsql AS $fw$
DECLARE
  name text := format('fw_churn_%s', number);
  homes text[] := ARRAY[{{range $i, $home := .Homes}}{{if $i}}, {{end}}{{literal $home}}{{end}}];
BEGIN
  EXECUTE format('CREATE TABLE %I (content char(1000) NOT NULL)%s', name, homes[(number % cardinality(homes))::integer + 1]);
{{- if .Database}}
  EXECUTE format('COMMENT ON TABLE %I IS %L', name, {{literal (signature .Database "content character(1000) not null")}});
{{- end}}
  COMMIT;
  EXECUTE format('INSERT INTO %I VALUES (%L)', name, repeat('x', 1000));
  COMMIT;
  EXECUTE format('DROP TABLE %I', name);
END
$fw$

-- name: statement-new-order
CALL fw_new_order($1, $2, $3, $4, $5, $6, $7, NULL, NULL);

-- name: statement-payment
SELECT fw_payment($1, $2, $3, $4, $5, $6, $7, $8);

-- name: statement-order-status
SELECT balance, o, lines FROM fw_order_status($1, $2, $3, $4);

-- name: statement-delivery
SELECT fw_delivery($1, $2, $3);

-- name: statement-stock-level
SELECT fw_stock_level($1, $2, $3);

-- name: statement-churn
CALL fw_churn($1);

-- name: churned
-- The tables' entries in the catalogues, dead since they were dropped. A shared
-- catalogue is passed over where the account may not.
VACUUM pg_catalog.pg_class, pg_catalog.pg_attribute, pg_catalog.pg_type, pg_catalog.pg_depend, pg_catalog.pg_description,
  pg_catalog.pg_shdepend;
