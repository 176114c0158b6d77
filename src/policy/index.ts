// Pure decisions. Only this folder imports casbin.
export type { GrantDecision, GrantFacts } from './grant-facts.ts'
export { defaultGrantRules, type GrantRule } from './grant-rule.ts'
