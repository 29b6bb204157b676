"""Guards in programs of Elixir and Lua that are gone or ask fewer, and changes that are in order."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.infrastructure.reader import read
from gate.prescreen.scanners.infrastructure import Infrastructure
from tests.prescreen_support import make_request

ROUTER = """defmodule ShopWeb.Router do
  use ShopWeb, :router

  pipeline :browser do
    plug :fetch_session
    plug :protect_from_forgery
  end

  pipeline :admin do
    plug ShopWeb.Plugs.RequireUser
    plug ShopWeb.Plugs.RequireRole, :admin
  end

  scope "/admin", ShopWeb.Admin do
    pipe_through [:browser, :admin]
    resources "/users", UserController
    get "/export", ExportController, :index
  end

  scope "/", ShopWeb do
    pipe_through :browser
    get "/", PageController, :home
  end
end
"""
CONTROLLER = """defmodule ShopWeb.OrderController do
  plug :require_owner when action in [:show, :update]

  def show(conn, %{"id" => id}) do
    with :ok <- Bodyguard.permit(Orders, :show, conn.assigns.current_user) do
      render(conn, :show, order: Orders.get(id))
    end
  end

  def update(conn, params) do
    if not owner?(conn) do
      conn |> put_status(:forbidden) |> halt()
    else
      Orders.update(params)
    end
  end
end
"""
LUA = """local token = header()
local seen = jwt:verify(keys.public, token)
if not seen.verified then
  return ngx.exit(ngx.HTTP_UNAUTHORIZED)
end
function limit()
  if limiter.rate_limit(ngx.var.remote_addr) then
    return ngx.exit(429)
  end
end
"""


def told(path: str, base: str, old: str, new: str) -> list[str]:
    assert old in base
    head = base.replace(old, new)
    for text in (base, head):
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = Infrastructure().scan(make_request({path: head}, {path: base})).findings
    return [f.rule_id for f in found if f.severity.value != "low"]


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("router.ex", ROUTER, '    get "/export", ExportController, :index\n  end\n\n  scope "/", ShopWeb do\n',
         '  end\n\n  scope "/", ShopWeb do\n    get "/admin/export", Admin.ExportController, :index\n'),
        ("router.ex", ROUTER, "[:browser, :admin]", ":browser"),
        ("router.ex", ROUTER, "    plug ShopWeb.Plugs.RequireRole, :admin\n", ""),
        ("router.ex", ROUTER, "    plug :protect_from_forgery\n", ""),
        ("order.ex", CONTROLLER, "in [:show, :update]", "in [:show]"),
        ("order.ex", CONTROLLER, "  plug :require_owner when action in [:show, :update]\n", ""),
        ("order.ex", CONTROLLER, "    with :ok <- Bodyguard.permit(Orders, :show, conn.assigns.current_user) do",
         "    with :ok <- :ok do"),
        ("order.ex", CONTROLLER, "if not owner?(conn) do", "if not owner?(conn) and conn.assigns.strict do"),
        ("a.lua", LUA, "if not seen.verified then", "if not seen.verified and not internal() then"),
        ("a.lua", LUA, "jwt:verify(keys.public, token)", "jwt:load(token)"),
        ("a.lua", LUA, "limiter.rate_limit(ngx.var.remote_addr)", "false"),
    ],
)  # fmt: skip
def test_what_no_longer_guards(path: str, base: str, old: str, new: str) -> None:
    assert told(path, base, old, new)


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("router.ex", ROUTER, 'get "/", PageController, :home', 'get "/start", PageController, :home'),
        ("router.ex", ROUTER, 'get "/export"', 'get "/exports"'),
        ("router.ex", ROUTER, '    get "/", PageController, :home\n',
         '    get "/", PageController, :home\n    get "/about", PageController, :about\n'),
        ("router.ex", ROUTER, "    plug :fetch_session\n", "    plug :fetch_live_flash\n"),
        ("order.ex", CONTROLLER, "[:show, :update]", "[:show, :update, :delete]"),
        ("order.ex", CONTROLLER, "Orders.update(params)", "Orders.change(params)"),
        ("a.lua", LUA, "if not seen.verified then", "if not seen.verified or expired(seen) then"),
        ("a.lua", LUA, "if not seen.verified then",
         "if cost > 0 and cost > most then\n  return ngx.exit(429)\nend\nif not seen.verified then"),
        ("a.lua", LUA, "return ngx.exit(429)", "ngx.log(1)\n    return ngx.exit(429)"),
    ],
)  # fmt: skip
def test_what_guards_as_before(path: str, base: str, old: str, new: str) -> None:
    assert told(path, base, old, new) == []


def test_broken_texts() -> None:
    for path in ("a.ex", "a.lua"):
        assert told(path, "defmodule (\nif if then\n", "if", "end") == []
