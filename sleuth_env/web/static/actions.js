// What can be done at a table, as the buttons call it: for the dialog of the rules.

/** For each game its actions: what is clicked, and what it does. */
export const ACTIONS = {
  sleuth: [
    ["Ask a question", "Choose whom you ask, then what for. It costs one of your search cards."],
    ["Final question", "A free question, any at all; but right after it you must accuse."],
    ["Exchange cards", "Exchange all four search cards instead of asking."],
    ["Accuse", "Name what is missing; several missing gems are named one after the other."],
    ["Pass", "Do not accuse now, or end your turn after the first of two questions."],
  ],
  holmes: [
    ["A card of your hand", "Play it; if it works on somebody, you then choose on whom. When you are asked for a card to pass on, put down, give, show or discard, click that one."],
    ["Draw a card", "Only if none of your cards is Suitable."],
    ["Arrest", "Take the hand of the player that you name."],
    ["An I Say token", "Take one of this kind from the pool, or from a player where the pool has none."],
    ["Take the Telegram", "From a player, or from yourself."],
    ["Escape", "Close the case with your Villains, if you hold nothing else but Interrupts."],
    ["Pass", "Play no other card, keep the card drawn, do not counter, do not arrest or do not escape; the button says which."],
  ],
};
