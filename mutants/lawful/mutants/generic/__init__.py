"""The engine ``mutmut``: mutants of function bodies, of the reference or of anybody's source.

mutmut makes them and tests them, in a workspace of its own. What its verdicts are worth, where
mutants are and what they change, who finds them, and which tell nothing, is found out here. Nothing
is imported with the package: the processes of a workspace come by here.
"""
