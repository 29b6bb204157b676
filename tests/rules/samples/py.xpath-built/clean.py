from lxml import etree


def find(root, name, tag):
    root.xpath("//user[name=$name]", name=name)
    root.xpath("//user/text()")
    root.find(tag)
    name.find("x" + tag)
    return root.findall(f"{tag}")
