// Finds where a file of the product keeps something in memory beyond one call, in its syntax: by a constructor of the list
// below, or in a Map or Set that is changed after the call that made it. Single values in variables are not found.
import ts from 'typescript'

/**
 * What owns state, by the function or class that makes it, and the file that defines it: its users say what it holds, not
 * that file.
 */
export const stateOwners: Readonly<Record<string, string>> = {
  BoundedMap: 'src/lib/bounded-map.ts',
  SingleFlight: 'src/lib/single-flight.ts',
  FollowingFlight: 'src/lib/single-flight.ts',
  createKeyedBuckets: 'src/lib/limits/keyed-buckets.ts',
  createFairLimit: 'src/lib/limits/fair-limit.ts',
  createKeyedMutex: 'src/lib/limits/keyed-mutex.ts',
  createFairTurns: 'src/lib/limits/fair-turns.ts',
  createGroupCommit: 'src/store/database/group-commit.ts',
  createMultimap: 'src/kube/cache/multimap.ts',
  createObjectCache: 'src/kube/cache/object-cache.ts',
  createDelays: 'src/kube/queue/delays.ts',
  createRetryLimiter: 'src/kube/queue/retry-limiter.ts',
  createWorkQueue: 'src/kube/queue/workqueue.ts',
}

/** Files with a Map or Set that looks like state and is none, each with the reason. */
export const notState: Readonly<Record<string, string>> = {
  'src/api/audit/access/deliveries.ts': 'of one answer',
  'src/policy/decide-grant.ts': 'of one decision',
  'src/services/builds/source-store/git/incomplete-files.ts': 'of one check of a commit',
  'src/kube/manager.ts': 'the controllers, which are added before the start and never change',
  'src/lib/hash-chain/attested-heads.ts': 'of one reading of the log',
  'src/services/git-proxy/push/report.ts': 'of one push, of which 256 KiB of the report are read',
  'src/services/image-cleanup/look.ts': 'of one look at the cluster',
  'src/services/image-cleanup/named-images.ts': 'of one look at the cluster',
  'src/services/wall-probe/finding.ts': 'of one round; what outlives it is in wall-probe.ts',
  'src/web/tls.ts': 'the servers that use the certificate',
}

/** A WeakMap or WeakSet keeps nothing alive, so that it is not among them. */
const collections: ReadonlySet<string> = new Set(['Map', 'Set'])
const changes: ReadonlySet<string> = new Set(['set', 'add', 'delete', 'clear'])
const definingFiles: ReadonlySet<string> = new Set(Object.values(stateOwners))
/** A file without any of these words keeps nothing. */
const words = new RegExp(`\\b(?:${[...Object.keys(stateOwners), ...collections].join('|')})\\b`)

/** Line, from 1, and what is constructed there. */
export type State = { readonly line: number; readonly owner: string }

/** The states of one file of the product, in order; none in a file that defines an owner. */
export function statesOf(path: string, text: string): readonly State[] {
  if (definingFiles.has(path) || !words.test(text)) return []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: State[] = []
  const visit = (node: ts.Node): void => {
    const owner = ownerOf(node)
    if (owner !== undefined) found.push({ line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, owner })
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function ownerOf(node: ts.Node): string | undefined {
  if (!(ts.isNewExpression(node) || ts.isCallExpression(node)) || !ts.isIdentifier(node.expression)) return undefined
  const name = node.expression.text
  if (name in stateOwners) return name
  return ts.isNewExpression(node) && collections.has(name) && outlivesCall(node) ? name : undefined
}

/**
 * Whether a collection is changed after the call that made it: in a class, at the top of a module, or by a function that is
 * returned.
 */
function outlivesCall(collection: ts.NewExpression): boolean {
  const { parent } = collection
  if (ts.isPropertyDeclaration(parent)) return true
  if (!ts.isVariableDeclaration(parent) || !ts.isIdentifier(parent.name)) return false
  const scope = ts.findAncestor(parent, one => ts.isFunctionLike(one) || ts.isSourceFile(one))
  if (scope === undefined) return false
  if (ts.isFunctionLike(scope) && !returnsFunctions(scope)) return false
  const name = parent.name.text
  return some(scope, node => isChange(node, name) && functionAround(node) !== scope)
}

function isChange(node: ts.Node, name: string): boolean {
  if (ts.isBinaryExpression(node))
    return node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(node.left) && node.left.text === name
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  const { expression, name: method } = node.expression
  return changes.has(method.text) && ts.isIdentifier(expression) && expression.text === name
}

/**
 * Whether the function, when called, gives its caller functions: one, an object with methods, or an instance of a class
 * inside.
 */
function returnsFunctions(scope: ts.SignatureDeclaration): boolean {
  if (ts.isArrowFunction(scope) && !ts.isBlock(scope.body)) return holdsFunction(scope.body)
  return some(scope, node => {
    if (!ts.isReturnStatement(node) || node.expression === undefined || functionAround(node) !== scope) return false
    return holdsFunction(node.expression)
  })
}

function holdsFunction(expression: ts.Node): boolean {
  const inner = ts.isParenthesizedExpression(expression) ? expression.expression : expression
  if (ts.isFunctionLike(inner)) return true
  if (!ts.isObjectLiteralExpression(inner)) return false
  return inner.properties.some(
    property =>
      ts.isMethodDeclaration(property) ||
      ts.isShorthandPropertyAssignment(property) ||
      (ts.isPropertyAssignment(property) && (ts.isFunctionLike(property.initializer) || ts.isIdentifier(property.initializer))),
  )
}

function functionAround(node: ts.Node): ts.Node | undefined {
  return ts.findAncestor(node.parent, one => ts.isFunctionLike(one) || ts.isSourceFile(one))
}

function some(node: ts.Node, holds: (node: ts.Node) => boolean): boolean {
  return ts.forEachChild(node, child => holds(child) || some(child, holds)) ?? false
}
