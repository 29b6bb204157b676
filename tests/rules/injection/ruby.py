"""Ruby: Rails and Sinatra."""

from __future__ import annotations

RAILS = "class A < ApplicationController\n  SORTS = %%w[name date].freeze\n  def f\n    %s\n  end\nend\n"
PAIRS = [
    ("sql", RAILS % 'User.where("name = \'#{params[:n]}\'")', RAILS % 'User.where("name = ?", params[:n])'),
    ("sql", RAILS % 'User.where("id = #{params[:id]}")', RAILS % 'User.where("id = #{params[:id].to_i}")'),
    ("sql", RAILS % 's = params[:sort]\n    User.order("#{s} desc")',
     RAILS % 's = params[:sort]\n    return head(:bad_request) unless SORTS.include?(s)\n    User.order("#{s} desc")'),
    ("sql", RAILS % 's = params[:sort]\n    User.order("#{s} desc")',
     RAILS % 's = SORTS.include?(params[:sort]) ? params[:sort] : "name"\n    User.order("#{s} desc")'),
    ("sql", RAILS % 'User.find_by_sql("select * from users where n = \'" + params[:n] + "\'")',
     RAILS % 'User.find_by_sql(["select * from users where n = ?", "x"])'),
    ("sql", RAILS % 'o = case params[:s] when "a" then "x" else params[:s] end\n    User.order("#{o} desc")',
     RAILS % 'o = case params[:s] when "a" then "x" else "y" end\n    User.order("#{o} desc")'),
    ("shell", RAILS % 'system("convert #{params[:f]}")', RAILS % 'system("convert", params[:f])'),
    ("shell", RAILS % "x = `ls #{params[:d]}`", RAILS % "x = `ls #{Shellwords.escape(params[:d])}`"),
    ("code", RAILS % "eval(params[:c])", RAILS % "JSON.parse(params[:c])"),
    ("code", RAILS % "@user.send(params[:m])", RAILS % '@user.send("export_#{params[:m]}")'),
    ("path", RAILS % 'send_file Rails.root.join("files", params[:f])',
     RAILS % 'send_file Rails.root.join("files", File.basename(params[:f]))'),
    ("path", RAILS % 'File.read("/data/#{params[:f]}")',
     RAILS % 'f = params[:f]\n    raise "no" unless f =~ /\\A[a-z]+\\z/\n    File.read("/data/#{f}")'),
    ("ssrf", RAILS % "Net::HTTP.get(URI(params[:u]))",
     RAILS % 'Net::HTTP.get(URI("https://api.example/u/#{CGI.escape(params[:u])}"))'),
    ("xss", RAILS % '@m = "<b>#{params[:n]}</b>".html_safe', RAILS % '@m = "<b>#{h(params[:n])}</b>".html_safe'),
    ("deserialise", RAILS % "Marshal.load(Base64.decode64(cookies[:s]))", RAILS % "YAML.safe_load(cookies[:s])"),
    ("redirect", RAILS % "redirect_to params[:u]", RAILS % "redirect_to user_path(params[:u])"),
    ("mass", RAILS % "User.create(params.permit!)", RAILS % "User.create(params.permit(:name))"),
    ("sql", 'get "/x" do\n  db.execute("select * from t where n = \'#{params["n"]}\'")\nend\n',
     'get "/x" do\n  db.execute("select * from t where n = ?", params["n"])\nend\n'),
    ("sql", 'class A < ApplicationController\n  def f\n    User.where("n = \'#{wanted}\'")\n  end\n\n  private\n\n  def wanted\n    params[:n]\n  end\nend\n',
     'class A < ApplicationController\n  def f\n    User.where("n = \'#{wanted}\'")\n  end\n\n  private\n\n  def wanted\n    params[:n].to_i\n  end\nend\n'),
]  # fmt: skip
