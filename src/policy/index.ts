// Pure decisions. The only importer of casbin.
export { decideGrant } from './decide-grant.ts'
export type { GrantDecision, GrantFacts } from './grant-facts.ts'
export { defaultGrantRules, type GrantRule } from './grant-rule.ts'
