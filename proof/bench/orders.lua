-- The five transactions of orders by sysbench 1.0: the same procedures with the
-- same mix, a connection a thread, each at home in one warehouse. Lines are ten, the
-- mean, and customers are asked for by number.
local ffi = require("ffi")
ffi.cdef [[
int mysql_next_result(void *mysql);
]]

sysbench.cmdline.options = {
  warehouses = {"Number of warehouses", 4}, customers = {"Customers of a district", 300}, items = {"Number of items", 10000},
}

function thread_init()
  con = sysbench.sql.driver():connect()
  home = sysbench.tid % sysbench.opt.warehouses + 1
end

function thread_done() con:disconnect() end

-- The answer is the row that is stored by con:query, and a status after it, which
-- sysbench 1.0 leaves unread; the connection's own handle is the driver's first word.
local function call(statement)
  local rows = con:query(statement)
  rows:free()
  ffi.C.mysql_next_result(ffi.cast("void ***", con.opaque)[0][0])
end

local function uniform(a, b) return sysbench.rand.uniform(a, b) end

-- NURand of clause 2.1.6.
local function skewed(a, n) return (bit.bor(uniform(0, a), uniform(1, n)) + 77) % n + 1 end

local function customer() return skewed(1023, sysbench.opt.customers) end

local items, supplies, quantities = {}, {}, {}

local function new_order()
  for n = 1, 10 do
    items[n], supplies[n], quantities[n] = skewed(8191, sysbench.opt.items), home, uniform(1, 10)
    if uniform(1, 100) == 1 then supplies[n] = uniform(1, sysbench.opt.warehouses) end
  end
  if uniform(1, 100) == 1 then items[10] = sysbench.opt.items + 1 end -- there is no such item
  call(string.format("CALL fw_new_order(%d, %d, %d, 1100000000, '%s', '%s', '%s')", home, uniform(1, 10), customer(),
    table.concat(items, ","), table.concat(supplies, ","), table.concat(quantities, ",")))
end

local function payment()
  local d = uniform(1, 10)
  call(string.format("CALL fw_payment(%d, %d, %d, %d, %d, '', %d, 1100000000)", home, d, home, d, customer(), uniform(100, 500000)))
end

function event()
  local card = uniform(1, 100)
  if card <= 45 then
    new_order()
  elseif card <= 88 then
    payment()
  elseif card <= 92 then
    call(string.format("CALL fw_order_status(%d, %d, %d, '')", home, uniform(1, 10), customer()))
  elseif card <= 96 then
    call(string.format("CALL fw_delivery(%d, %d, 1100000000)", home, uniform(1, 10)))
  else
    call(string.format("CALL fw_stock_level(%d, %d, %d)", home, uniform(1, 10), uniform(10, 20)))
  end
end
