// What tests must not do with time, found in the syntax of a file: sleep, wait in another way than waitUntil or with a
// number of their own, and assert that a duration is short. Each is a test that fails on a slow machine, or passes on one
// that stalls.
import ts from 'typescript'

export type Finding = { readonly line: number; readonly rule: Rule; readonly cure: string }
export type Rule = 'sleep' | 'wait' | 'limit' | 'duration'

const cures: Readonly<Record<Rule, string>> = {
  sleep:
    'await the condition with waitUntil (src/lib/waiting), or name the file with its reason in dev/check/waiting-exceptions.ts',
  wait: 'use waitUntil of src/lib/waiting: its limit is time that the machine granted',
  limit: 'leave the limit out, or take one of `limits` in src/lib/waiting/limits.ts',
  duration: 'assert the order of events or the state; durations are measured in test/bench and test/faults',
}

/** The findings of one file of tests, in order. */
export function findingsOf(path: string, text: string): readonly Finding[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const constants = constantsOf(file)
  const found: Finding[] = []
  const visit = (node: ts.Node): void => {
    const rule = ruleOf(node, constants)
    if (rule !== undefined)
      found.push({ line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, rule, cure: cures[rule] })
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

type Constants = ReadonlyMap<string, ts.Expression>

function constantsOf(file: ts.SourceFile): Constants {
  const constants = new Map<string, ts.Expression>()
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined)
      constants.set(node.name.text, node.initializer)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return constants
}

function ruleOf(node: ts.Node, constants: Constants): Rule | undefined {
  if (ts.isImportDeclaration(node)) return ofTimers(node) ? 'sleep' : undefined
  if (!ts.isCallExpression(node)) return undefined
  const callee = node.expression
  if (ts.isIdentifier(callee)) return ofFunction(callee.text, node, constants)
  return ts.isPropertyAccessExpression(callee) ? ofMethod(callee, node, constants) : undefined
}

function ofMethod({ name, expression }: ts.PropertyAccessExpression, call: ts.Node, constants: Constants): Rule | undefined {
  const owner = expression.getText()
  if (owner === 'systemClock' && name.text === 'sleep') return isOfClock(call) ? undefined : 'sleep'
  if (owner === 'vi' && name.text.startsWith('wait')) return 'wait'
  if (owner.startsWith('expect') && name.text === 'poll') return 'wait'
  return name.text.startsWith('toBeLessThan') && isDuration(expression, constants) ? 'duration' : undefined
}

function ofTimers({ moduleSpecifier, importClause }: ts.ImportDeclaration): boolean {
  return ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text === 'node:timers/promises' && importClause !== undefined
}

function ofFunction(name: string, call: ts.CallExpression, constants: Constants): Rule | undefined {
  if (name === 'setTimeout') return resolvesOnly(call) && !isOfClock(call) ? 'sleep' : undefined
  if (name !== 'waitUntil') return undefined
  const [, , options] = call.arguments
  const object = options !== undefined && ts.isIdentifier(options) ? constants.get(options.text) : options
  return object !== undefined && hasLiteralLimit(object, constants) ? 'limit' : undefined
}

/**
 * Nothing is done after the time but to go on: `setTimeout(resolve, 5)`. What does more is a limit of time, or a program
 * that is slow.
 */
function resolvesOnly({ arguments: [done] }: ts.CallExpression): boolean {
  if (done === undefined || ts.isIdentifier(done)) return true
  if (!ts.isArrowFunction(done) || !ts.isCallExpression(done.body)) return false
  return ts.isIdentifier(done.body.expression) && done.body.arguments.length === 0
}

/** A clock of a test, whose method `sleep` is another one's. */
function isOfClock(node: ts.Node): boolean {
  const method = ts.findAncestor(
    node,
    one => ts.isPropertyAssignment(one) || ts.isMethodDeclaration(one) || ts.isVariableDeclaration(one),
  ) as ts.PropertyAssignment | ts.MethodDeclaration | ts.VariableDeclaration | undefined
  return method?.name.getText() === 'sleep'
}

function hasLiteralLimit(options: ts.Expression, constants: Constants): boolean {
  if (!ts.isObjectLiteralExpression(options)) return false
  return options.properties.some(property => {
    if (ts.isSpreadAssignment(property) && ts.isIdentifier(property.expression)) {
      const spread = constants.get(property.expression.text)
      return spread !== undefined && hasLiteralLimit(spread, new Map())
    }
    return (
      ts.isPropertyAssignment(property) && property.name.getText() === 'timeoutMilliseconds' && isOfNumbers(property.initializer)
    )
  })
}

function isOfNumbers(expression: ts.Expression): boolean {
  if (ts.isBinaryExpression(expression)) return isOfNumbers(expression.left) && isOfNumbers(expression.right)
  return ts.isNumericLiteral(expression)
}

/** Whether what is expected is a difference of two readings of a clock, or a constant that is one. */
function isDuration(asserted: ts.Expression, constants: Constants): boolean {
  const [value] = ts.isCallExpression(asserted) ? asserted.arguments : []
  if (value === undefined) return false
  if (ts.isIdentifier(value)) {
    const constant = constants.get(value.text)
    return constant !== undefined && readsClockDifference(constant)
  }
  return readsClockDifference(value)
}

function readsClockDifference(expression: ts.Node): boolean {
  if (ts.isFunctionLike(expression)) return false
  if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.MinusToken)
    return /\b(?:Date|performance)\.now\(\)/.test(expression.getText())
  return ts.forEachChild(expression, readsClockDifference) ?? false
}
