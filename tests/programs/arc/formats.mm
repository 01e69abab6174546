// Dates, names and order of strings of a locale. A wheel has ICU's data for English alone.
#import "program.h"

int main() {
  @autoreleasepool {
    NSLocale* const english = [NSLocale localeWithLocaleIdentifier:@"en_US"];
    NSDateFormatter* const dates = [[NSDateFormatter alloc] init];
    dates.locale = english;
    dates.timeZone = [NSTimeZone timeZoneForSecondsFromGMT:0];
    dates.dateFormat = @"yyyy-MM-dd EEEE MMMM";
    CHECK([[dates stringFromDate:[NSDate dateWithTimeIntervalSince1970:0]] isEqual:@"1970-01-01 Thursday January"]);
    CHECK([[english displayNameForKey:NSLocaleIdentifier value:@"fr_FR"] isEqual:@"French (France)"]);
    CHECK([@"\u00e4" compare:@"z" options:NSCaseInsensitiveSearch range:NSMakeRange(0, 1)
                      locale:english] == NSOrderedAscending);

    NSRegularExpression* const words = [NSRegularExpression regularExpressionWithPattern:@"\\b(\\w+)@(\\w+)\\b"
                                                                                 options:0
                                                                                   error:nil];
    CHECK([words numberOfMatchesInString:@"a@b c@d" options:0 range:NSMakeRange(0, 7)] == 2);
    CHECK([[@"\u00c5" decomposedStringWithCanonicalMapping] isEqual:@"A\u030a"]);

    NSNumberFormatter* const numbers = [[NSNumberFormatter alloc] init];
    numbers.locale = english;
    numbers.numberStyle = NSNumberFormatterDecimalStyle;
    CHECK([numbers stringFromNumber:@12] != nil);
    NSLocale* const german = [NSLocale localeWithLocaleIdentifier:@"de_DE"];  // its data may be missing, and not more
    CHECK([german displayNameForKey:NSLocaleIdentifier value:@"fr_FR"] != nil);
  }
}
