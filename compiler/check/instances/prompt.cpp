// Entries at the prompt: statements over variables that earlier entries made.
#include "check/body/body.h"
#include "check/instances/instances.h"

namespace melix::check {

namespace {

/// The newest local of each name in scope, in the order in which they were declared.
std::vector<ScopeEntry> visibleLocals(const Body& body) {
  std::vector<ScopeEntry> out;
  for (size_t k = 0; k < body.scope.size(); ++k) {
    bool hidden = false;
    for (size_t later = k + 1; later < body.scope.size(); ++later)
      hidden |= body.scope[later].name == body.scope[k].name;
    if (!hidden) out.push_back(body.scope[k]);
  }
  return out;
}

} // namespace

PromptEntry Checker::prompt(ModuleId module, const std::vector<PromptVariable>& known) {
  const syntax::Ast& tree = modules[module].ast;
  PromptEntry entry;
  InstanceId id = instances.addInstance({});
  instances.info(id).inProgress = true;
  Instance& instance = program_.instance(id);
  instance.name = "prompt";
  instance.key = "prompt " + std::to_string(id.index);
  Body body(*this, id, module, tree);
  body.mayReturn = false;
  body.isScript = true;
  Span span = tree.span(tree.root);
  for (const PromptVariable& v : known) {
    LocalId l = body.declareLocal(v.name, v.type, span, v.isVar);
    body.used.insert(l);
    instance.params.push_back(l);
    if (v.size) body.env.edit().dims[v.name] = types.dims.constant(*v.size);
    if (!v.isVar && !v.isSize) body.scriptLets.set(v.name, l);
  }
  std::vector<NodeId> nodes;
  NodeId value = body.b.unit(span);
  const std::vector<SynId> statements = modules[module].statements;
  for (size_t k = 0; k < statements.size(); ++k) {
    bool last = k + 1 == statements.size();
    NodeId node = body.checkStatement(statements[k], last, TypeId::none());
    body.noteLets(statements[k]);
    TypeKind kind = body.b.kindOf(node);
    if (last && kind != TypeKind::Never && !types.isUnit(body.b.typeOf(node)))
      value = node;
    else
      nodes.push_back(node);
  }
  // The value is taken before the variables are read: it may change them.
  std::vector<NodeId> parts{body.b.local(body.b.bind("value", value, nodes), span)};
  std::vector<LocalId> locals;
  std::vector<TypeId> partTypes{body.b.typeOf(parts[0])};
  for (const ScopeEntry& s : visibleLocals(body)) {
    locals.push_back(s.local);
    parts.push_back(body.b.local(s.local, span));
    partTypes.push_back(body.b.typeOf(parts.back()));
    const Local& local = instance.locals[s.local];
    entry.variables.push_back({s.name, TypeId::none(), local.isVar, {}, false, local.span});
  }
  for (PromptVariable& kept : entry.variables)
    for (const PromptVariable& v : known) kept.isSize |= v.isSize && v.name == kept.name;
  for (const auto& [name, dim] : std::map<NameId, DimId>(body.env->dims.begin(), body.env->dims.end())) {
    if (body.lookupAny(name)) continue;
    parts.push_back(body.b.dimValue(dim, span));
    partTypes.push_back(types.int64());
    entry.variables.push_back({name, TypeId::none(), false, {}, true, span});
  }
  nodes.push_back(body.b.make(NodeKind::Tuple, types.tuple(partTypes), span, std::move(parts)));
  instances.finish(id, body, body.b.block(std::move(nodes), span), TypeId::none());
  if (body.messages.anyErrors() || instance.failed || types.kind(instance.result) != TypeKind::Tuple)
    return entry;
  for (size_t k = 0; k < entry.variables.size(); ++k)
    entry.variables[k].type = types[instance.result].parts[k + 1];
  entry.instance = id;
  return entry;
}

} // namespace melix::check
