/** Tells a sub-agent how to ask: it goes to the sub-agent with its work, and nowhere else. */
export const SUB_AGENT_QUESTION_FORMAT = `If you cannot go on without a decision that only a human can take, ask for it like this:

1. Save all you have done and found out to \`plan.json\` in your state directory. You will not be continued: another sub-agent starts afresh, reads that file and is told the answers.
2. Then answer with this block as your entire answer, and end:

<needs_user_input>
  <question>
    <text>Which database should the plan use?</text>
    <option>SQLite</option>
    <option>PostgreSQL</option>
  </question>
</needs_user_input>

Ask one to three questions at once, each with two or three options that differ and that can be acted on. Write \`&lt;\` for \`<\` and \`&amp;\` for \`&\`. Not one word may stand before or after the block. A question mark anywhere else asks nobody.

If \`plan.json\` is already in your state directory, you are such a new start: read it and go on from there.`;

/** Tells the main agent how to see that its sub-agent asks, and how to pass the questions on. */
export const QUESTION_RELAY_HANDLER = `The sub-agent may ask a human. It does so only if its entire answer is one \`<needs_user_input>\` block; a question anywhere else is none.

1. Do not answer for the human. Pass the questions and options on as they are, with \`ask_human\` or \`phasegate ask\`, and wait.
2. When all are answered, start the sub-agent afresh: a new one, not the old one resumed, with the answers and the same state directory. It finds what was done so far in \`plan.json\` there.
3. If the block is malformed or has text around it, start the sub-agent afresh and tell it what is wrong with the block.`;
