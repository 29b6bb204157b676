from lxml import etree


def view(tree):
    return etree.XSLT(etree.parse("sheet.xsl"))(tree)
