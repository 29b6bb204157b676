"""Which type of a syntax tree is lowered how, in all grammars; what differs in one has a class of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from tree_sitter import Node as Tree

from gate.languages.tree_sitter_parse import parse
from gate.taint.lowering import Expressions
from gate.taint.program import Node
from gate.taint.statements import Lowering

_Say = Callable[[Callable[..., Node], str], None]


def _names(say: _Say) -> None:
    """What stands for itself, and what only holds others."""
    own = Lowering
    say(own.const, "number true false null null_literal undefined int_literal"
        " float_literal nil integer float "
        "boolean boolean_literal real_literal number_literal decimal_integer_literal integer_literal regex "
        "decimal_floating_point_literal character_literal symbol simple_symbol hash_key_symbol rune_literal "
        "long_literal hex_literal string_array symbol_array class_constant_access_expression")  # fmt: skip
    say(own.empty, "type_annotation type_arguments type_parameters"
        " interface_declaration type_alias_declaration "
        "type_declaration package_clause package_header package_declaration using_directive "
        "text text_interpolation php_tag php_end_tag modifiers modifier visibility_modifier user_type "
        "annotation decorator attribute_list enum_declaration"
        " ambient_declaration type_identifier")  # fmt: skip
    say(own.name, "identifier property_identifier shorthand_property_identifier this"
        " self super variable_name name "
        "shorthand_property_identifier_pattern private_property_identifier constant instance_variable "
        "global_variable class_variable field_identifier package_identifier this_expression base_expression "
        "qualified_name namespace_name predefined_type")  # fmt: skip
    say(own.string, "string template_string interpreted_string_literal raw_string_literal string_literal "
        "encapsed_string heredoc interpolated_string_expression verbatim_string_literal nowdoc heredoc_body "
        "multiline_string_literal line_string_literal")  # fmt: skip
    say(own.inner, "parenthesized_expression await_expression template_substitution "
        "interpolation argument spread_element splat_argument hash_splat_argument yield_expression "
        "throws parenthesized_statements jsx_expression go_statement defer_statement ref_expression "
        "variable_declaration lexical_declaration local_variable_declaration local_declaration_statement "
        "annotated_lambda literal_element constant_pattern when_subject checked_expression "
        "reference_assignment_expression by_ref rest_pattern field_declaration"
        " const_declaration variadic_unpacking "
        "block_argument labeled_statement lambda_expression_body")  # fmt: skip
    say(own.shown, "expression_statement")
    say(own.block, "program source_file compilation_unit statement_block block"
        " compound_statement body_statement "
        "then else else_clause statement_list function_body"
        " control_structure_body class_body declaration_list "
        "namespace_definition namespace_declaration file_scoped_namespace_declaration block_body module "
        "import_spec_list var_spec_list ensure finally_clause finally_block begin_block colon_block "
        "lexical_declaration variable_declaration local_variable_declaration"
        " var_declaration const_declaration "
        "field_declaration global_statement internal_module using_statement"
        " lock_statement synchronized_statement "
        "fixed_statement static_block companion_object static_initializer namespace_use_declaration "
        "property_declaration global_statement_list resource_specification")  # fmt: skip


def _expressions(say: _Say) -> None:
    """What is made of values."""
    own = Lowering
    say(own.first, "as_expression satisfies_expression non_null_expression type_assertion_expression "
        "postfix_unary_expression")  # fmt: skip
    say(own.member, "member_expression selector_expression member_access_expression"
        " field_access scope_resolution "
        "navigation_expression nullsafe_member_access_expression scoped_property_access_expression "
        "conditional_access_expression scoped_identifier nested_identifier")  # fmt: skip
    say(own.binding, "member_binding_expression")
    say(own.index, "subscript_expression index_expression element_access_expression array_access "
        "element_reference")  # fmt: skip
    say(own.part_of, "slice_expression")
    say(own.call, "call_expression method_invocation invocation_expression function_call_expression call "
        "member_call_expression scoped_call_expression nullsafe_member_call_expression")  # fmt: skip
    say(own.made, "new_expression object_creation_expression implicit_object_creation_expression "
        "array_creation_expression_of_type")  # fmt: skip
    say(own.operation, "binary_expression binary infix_expression additive_expression")
    say(own.unary, "unary_expression prefix_unary_expression unary unary_op_expression update_expression "
        "not_expression")  # fmt: skip
    say(own.choice, "ternary_expression conditional_expression conditional")
    say(own.contained, "in_expression check_expression")
    say(own.is_kind, "instanceof_expression is_pattern_expression is_expression")
    say(own.cast, "cast_expression type_conversion_expression")
    say(own.entries, "object object_pattern hash literal_value anonymous_object_creation_expression")
    say(own.items, "array array_pattern array_creation_expression list_literal collection_expression "
        "array_initializer right_assignment_list left_assignment_list"
        " initializer_expression collection_literal "
        "implicit_array_creation_expression tuple_expression")  # fmt: skip
    say(own.sequence, "sequence_expression")
    say(own.composite, "composite_literal")
    say(own.expression_list, "expression_list")
    say(own.attribute, "jsx_attribute")


def _statements(say: _Say) -> None:
    """What is done one after another, and what declares."""
    own = Lowering
    say(
        own.condition,
        "if_statement if_expression if unless if_modifier unless_modifier elsif guard_statement",
    )
    say(own.loop, "for_statement for_in_statement enhanced_for_statement foreach_statement while_statement "
        "do_statement do_while_statement while until for while_modifier until_modifier")  # fmt: skip
    say(own.returned, "return_statement return return_expression")
    say(own.thrown, "throw_statement throw_expression exit_statement")
    say(own.jump, "break_statement continue_statement break next redo jump_expression")
    say(own.tried, "try_statement try_expression try_with_resources_statement begin")
    say(own.caught, "catch_clause catch_block rescue")
    say(own.switch, "switch_statement switch_expression case when_expression match_expression "
        "expression_switch_statement type_switch_statement")  # fmt: skip
    say(own.assigned, "assignment_expression assignment assignment_statement short_var_declaration "
        "augmented_assignment_expression operator_assignment")  # fmt: skip
    say(own.declared, "variable_declarator var_spec const_spec public_field_definition field_definition "
        "property_element static_variable_declaration const_element")  # fmt: skip
    say(own.resource, "resource")
    say(own.function, "function_declaration function_expression arrow_function"
        " method_definition lambda_expression "
        "generator_function generator_function_declaration method_declaration"
        " func_literal constructor_declaration "
        "lambda_literal anonymous_function method singleton_method function_definition lambda do_block "
        "anonymous_method_expression local_function_statement function_item"
        " anonymous_function_creation_expression "
        "secondary_constructor compact_constructor_declaration")  # fmt: skip
    say(own.class_, "class_declaration class singleton_class object_declaration"
        " trait_declaration record_declaration "
        "abstract_class_declaration struct_declaration interface_body companion_object")  # fmt: skip
    say(own.imported, "import_statement import_spec namespace_use_clause import")
    say(own.exported, "export_statement")


def _table() -> dict[str, Callable[..., Node]]:
    made: dict[str, Callable[..., Node]] = {}

    def say(method: Callable[..., Node], types: str) -> None:
        made.update(dict.fromkeys(types.split(), method))

    for part in (_names, _expressions, _statements):
        part(say)
    for name, types in {
        "echo": "echo_statement", "print": "print_intrinsic",
        "include": "include_expression include_once_expression require_expression require_once_expression",
        "`": "shell_command_expression subshell",
    }.items():  # fmt: skip
        say(Expressions("").named_call(name), types)
    return made


Lowering.table = _table()


class _Kotlin(Lowering):
    table: ClassVar = {
        **Lowering.table,
        "property_declaration": Lowering.declared,
        "import": Lowering.imported,
    }


class _Go(Lowering):
    table: ClassVar[dict[str, Callable[..., Node]]] = {
        **Lowering.table,
        "import_declaration": Lowering.block,
        "type_declaration": Lowering.block,
        "type_spec": Lowering.struct,
        "interpreted_string_literal": Lowering.string,
    }


class _Java(Lowering):
    table: ClassVar[dict[str, Callable[..., Node]]] = {
        **Lowering.table,
        "import_declaration": Lowering.imported,
    }


class _Ruby(Lowering):
    def braces(self, tree: Tree) -> Node:
        """``{ |x| ... }`` is a function; other blocks are blocks."""
        is_lambda = tree.parent is not None and tree.parent.type in ("call", "lambda", "method_call")
        return self.function(tree) if is_lambda else self.block(tree)

    table: ClassVar[dict[str, Callable[..., Node]]] = {
        **Lowering.table,
        "block": braces,
        "module": Lowering.class_,
    }


_BY_GRAMMAR: Final[dict[str, type[Lowering]]] = {
    "tree_sitter_kotlin": _Kotlin, "tree_sitter_go": _Go, "tree_sitter_java": _Java,
    "tree_sitter_ruby": _Ruby,
}  # fmt: skip


def lowered(data: bytes, grammar: str) -> Node:
    """The program tree of a file. Raises RecursionError for a nesting bomb."""
    return _BY_GRAMMAR.get(grammar, Lowering)(grammar).node(parse(data, grammar))
