(class_declaration name: (identifier) @name) @definition
(interface_declaration name: (identifier) @name) @definition
(enum_declaration name: (identifier) @name) @definition
(record_declaration name: (identifier) @name) @definition
(annotation_type_declaration name: (identifier) @name) @definition
(method_declaration name: (identifier) @name) @definition

(method_invocation name: (identifier) @reference)
(method_reference (identifier) @reference)
(type_identifier) @reference
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)
((method_invocation object: (identifier) @reference) (#match? @reference "^[A-Z]"))
((field_access object: (identifier) @reference) (#match? @reference "^[A-Z]"))
